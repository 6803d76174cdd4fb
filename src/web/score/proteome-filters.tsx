import { Button } from "../components/button.tsx";
import { Checkbox } from "../components/field.tsx";
import { formatCount } from "../format.tsx";
import type { SetQuery } from "../page.tsx";
import {
  choiceName,
  type Facet,
  FACET_NAMES,
  FACETS,
  FILTER_NAMES,
  PLACE_FILTERS,
  type Search,
} from "./proteome.ts";
import { type Verdict, VERDICT_ORDER, VERDICTS } from "./result.ts";
import { VerdictGlyph } from "./verdict.tsx";

/** Order of the choices of a facet whose values have one. */
const ORDER: Partial<Record<Facet, readonly string[]>> = {
  label: VERDICT_ORDER,
  region: ["disordered", "ordered"],
  kept: ["90-100", "50-89", "0-49", "no homologs"],
};

/** Filters beside the matches of a search. The first page is shown after a change. */
export function ProteomeFilters(props: {
  facets: Search["facets"];
  /** Whether features are imported. */
  hasFeatures: boolean;
  query: URLSearchParams;
  setQuery: SetQuery;
}) {
  const { facets, query, setQuery } = props;
  const isFiltered = FILTER_NAMES.some((name) => query.has(name));
  return (
    <div class="scan-filters" role="group" aria-label="Filters">
      {FACET_NAMES.filter((facet) => facets[facet].length > (facet === "species" ? 1 : 0)).map((facet) => (
        <FacetChoices
          key={facet}
          facet={facet}
          choices={inOwnOrder(facet, facets[facet])}
          chosen={query.getAll(facet)}
          onChoose={(chosen) => setQuery({ [facet]: chosen, from: null }, { replace: true })}
        />
      ))}
      {props.hasFeatures && (
        <fieldset>
          <legend>Known features</legend>
          {PLACE_FILTERS.map(([name, , label]) => (
            <Checkbox
              key={name}
              label={label}
              checked={query.has(name)}
              onChange={(on) => setQuery({ [name]: on ? "yes" : null, from: null }, { replace: true })}
            />
          ))}
        </fieldset>
      )}
      {isFiltered && (
        <Button
          small
          onClick={() =>
            setQuery(Object.fromEntries([...FILTER_NAMES, "from"].map((name) => [name, null])), {
              replace: true,
            })
          }
        >
          Clear filters
        </Button>
      )}
    </div>
  );
}

type Choice = Search["facets"][Facet][number];

function inOwnOrder(facet: Facet, choices: readonly Choice[]): readonly Choice[] {
  const order = ORDER[facet];
  return order ? choices.toSorted((a, b) => order.indexOf(a.value) - order.indexOf(b.value)) : choices;
}

const FacetChoices = (props: {
  facet: Facet;
  choices: readonly Choice[];
  chosen: readonly string[];
  onChoose: (chosen: string[]) => void;
}) => (
  <fieldset>
    <legend>{FACETS[props.facet]}</legend>
    {props.choices.map((choice) => (
      <Checkbox
        key={choice.value}
        label={
          <span class="facet">
            {props.facet === "label" && <VerdictGlyph verdict={choice.value as Verdict} />}
            {props.facet === "label" ? VERDICTS[choice.value as Verdict].name : choiceName(choice)}{" "}
            <small class="end">{formatCount(choice.count)}</small>
          </span>
        }
        checked={props.chosen.includes(choice.value)}
        onChange={(on) =>
          props.onChoose([
            ...props.chosen.filter((value) => value !== choice.value),
            ...(on ? [choice.value] : []),
          ])
        }
      />
    ))}
  </fieldset>
);
