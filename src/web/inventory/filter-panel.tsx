import { groupTitle } from "../../platform/words.ts";
import { useEffect, useState } from "preact/hooks";
import { Banner } from "../components/banner.tsx";
import { Button, IconButton } from "../components/button.tsx";
import { Facet } from "../components/facet.tsx";
import { TextArea } from "../components/field.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { useQuery } from "../page.tsx";
import { onWrite } from "../request.ts";
import {
  columnTitle,
  type Declaration,
  type FieldInfo,
  findField,
  hasWords,
  isSeldomUsed,
  isSuffix,
  listedAnnotations,
  formatChoice,
} from "./declaration.ts";
import { comparison, matchEverything, type Group, printExpression, readExpression } from "./expression.ts";
import { FilterBuilder } from "./filter-builder.tsx";
import { parseFilters } from "./list-address.ts";
import { type FieldCount, readValues } from "./value-input.tsx";

const MAX_FACETS = 3;
const MAX_ANNOTATION_FACETS = 6;
/** Texts with more different values are no facets. */
const MAX_TEXTS = 20;

/** Fields by which a list is narrowed: constants first, then references and annotations of few values. */
export const listFacets = (of: Declaration): string[] => {
  const { fields } = of;
  const shown = Object.keys(fields).filter(
    (name) =>
      fields[name].shown === "always" && fields[name].write !== "never" && !isSeldomUsed(fields[name]),
  );
  const references = shown.filter((name) => fields[name].reference?.printed === "id" && !isSuffix(of, name));
  const own = [...shown.filter((name) => hasWords(fields[name])), ...references].slice(0, MAX_FACETS);
  const annotations = listedAnnotations(of)
    .filter(([, field]) => field.lookups.length > 0 && (hasFewValues(field) || isText(field)))
    .toSorted(([, one], [, other]) => Number(hasFewValues(other)) - Number(hasFewValues(one)));
  return [...own, ...annotations.slice(0, MAX_ANNOTATION_FACETS).map(([name]) => name)];
};

const hasFewValues = ({ choices, kind, annotation }: FieldInfo): boolean =>
  choices !== null || kind === "flag" || annotation!.type === "VOCABULARYTERM";
const isText = ({ annotation }: FieldInfo): boolean => annotation?.type === "TEXT";

/** True if values narrow a list; each text may belong to only one record. */
const isFacet = (field: FieldInfo | undefined, values: readonly FieldCount[]): boolean =>
  values.length > 0 &&
  (!field || !isText(field) || field.choices !== null || (values.length <= MAX_TEXTS && values[0].total > 1));

function facetLabel(field: FieldInfo | undefined, value: string, label: string | null): string {
  if (field && hasWords(field)) return formatChoice(value, field);
  if (field?.kind === "flag") return value === "true" ? "yes" : "no";
  return groupTitle(label ?? "(no name)");
}

/** Filters of a list: frequent values of a few fields, and any conditions. */
export function FilterPanel({ of, onClose }: { of: Declaration; onClose: () => void }) {
  const [search] = useQuery();
  const given = search.get("query_expression") ?? "";
  const names = listFacets(of);
  return (
    <Card title="Filter" actions={<IconButton icon="x" label="Close the filter" onClick={onClose} />}>
      {names.length > 0 && <Facets of={of} names={names} />}
      <details open={given !== "" || names.length === 0}>
        <summary>Conditions</summary>
        {/* Other conditions appear when the address changes. */}
        <Conditions key={given} of={of} given={given} />
      </details>
    </Card>
  );
}

/** The frequent values of a few fields, each a filter. */
function Facets({ of, names }: { of: Declaration; names: readonly string[] }) {
  const [search, setQuery] = useQuery();
  const filters = parseFilters(search);
  const counts = useLoaded(JSON.stringify([of.name, filters]), () =>
    Promise.all(
      names.map(async (name): Promise<[string, FieldCount[]]> => {
        // The other values of a facet stay available.
        const { [name]: _own, ...others } = filters;
        return [name, await readValues(of.name, name, others)];
      }),
    ),
  );
  useEffect(() => onWrite(counts.reload), []);
  return (
    <Loaded of={counts}>
      {(facets) => (
        <div class="facets wide">
          {facets.map(
            ([name, values]) =>
              (isFacet(findField(of, name), values) || name in filters) && (
                <Facet
                  key={name}
                  title={columnTitle(of, name)}
                  values={values.map(({ value, label, total }) => ({
                    value,
                    name: facetLabel(findField(of, name), value, label),
                    count: total,
                  }))}
                  chosen={filters[name] ?? []}
                  onChange={(chosen) => setQuery({ [name]: chosen, page: null })}
                />
              ),
          )}
        </div>
      )}
    </Loaded>
  );
}

/** The advanced filter: conditions, and the same as text. */
function Conditions({ of, given }: { of: Declaration; given: string }) {
  const [, setQuery] = useQuery();
  const empty: Group = { ...matchEverything(), parts: [comparison(of.key)] };
  const [text, setText] = useState(given);
  // Conditions that are not complete yet are not part of the text.
  const [group, setGroup] = useState(() => {
    const read = readExpression(given);
    return read && read.parts.length > 0 ? read : empty;
  });
  const isValid = readExpression(text) !== undefined;
  const apply = (expression: string): void => setQuery({ query_expression: expression, page: null });
  return (
    <form
      class="stack"
      aria-label="Conditions"
      onSubmit={(event) => {
        event.preventDefault();
        apply(text);
      }}
    >
      {isValid ? (
        <FilterBuilder
          of={of}
          group={group}
          onChange={(changed) => {
            setGroup(changed);
            setText(printExpression(changed));
          }}
        />
      ) : (
        <Banner tone="warn">The expression is not valid. Correct it, or clear the filter.</Banner>
      )}
      <details open={!isValid}>
        <summary>As text</summary>
        <TextArea
          label="Expression"
          hint='Objects with "category", "operator" and "value", separated by commas; also {"and": […]}, {"or": […]}, {"not": …}.'
          code
          rows={3}
          spellcheck={false}
          value={text}
          onInput={(typed) => {
            setText(typed);
            const read = readExpression(typed);
            if (read) setGroup(read);
          }}
        />
      </details>
      <div class="actions">
        <Button look="primary" type="submit">
          Apply
        </Button>
        <Button
          onClick={() => {
            setGroup(empty);
            setText("");
            apply("");
          }}
        >
          Clear
        </Button>
      </div>
    </form>
  );
}
