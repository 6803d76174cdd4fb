import { Checkbox } from "../components/field.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { formatCount } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { type Declaration, isConstant, wordsOf } from "./declaration.ts";
import { filtersOf } from "./list-address.ts";
import { type FieldCount, readValues } from "./value-input.tsx";

const MOST_FACETS = 3;
const MOST_VALUES = 8;

/** Fields by which a list is narrowed: constants first, then references. */
const facetsOf = ({ fields }: Declaration): string[] => {
  const shown = Object.keys(fields).filter(
    (name) => fields[name].shown === "always" && fields[name].write !== "never",
  );
  const references = shown.filter((name) => fields[name].reference?.printed === "id" && name !== "unit");
  return [...shown.filter((name) => isConstant(fields[name])), ...references].slice(0, MOST_FACETS);
};

/** The frequent values of a few fields, each a filter. */
export function Facets({ of }: { of: Declaration }) {
  const [search, setQuery] = useQuery();
  const names = facetsOf(of);
  const filters = filtersOf(search);
  const { value } = useLoaded(JSON.stringify([of.name, filters]), () =>
    Promise.all(
      names.map(async (name): Promise<[string, FieldCount[]]> => {
        // The other values of a facet stay available.
        const { [name]: _own, ...others } = filters;
        return [name, await readValues(of.name, name, others)];
      }),
    ),
  );
  const facets = value?.filter(([, values]) => values.length > 0) ?? [];
  return (
    <aside class="facets screen" aria-label="Filter by value">
      {facets.map(([name, values]) => {
        const chosen = filters[name] ?? [];
        const set = (one: string, on: boolean): void =>
          setQuery({ [name]: on ? [...chosen, one] : chosen.filter((other) => other !== one), page: null });
        return (
          <section key={name}>
            <h2>{of.fields[name].label}</h2>
            <ul>
              {values.slice(0, MOST_VALUES).map(({ value: one, label, total }) => (
                <li key={one} class="row">
                  <Checkbox
                    label={isConstant(of.fields[name]) ? wordsOf(one) : (label ?? "(no name)")}
                    checked={chosen.includes(one)}
                    onChange={(on) => set(one, on)}
                  />
                  <span class="count end">{formatCount(total)}</span>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </aside>
  );
}
