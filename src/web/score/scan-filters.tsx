import { Button } from "../components/button.tsx";
import { Checkbox } from "../components/field.tsx";
import type { SetQuery } from "../page.tsx";
import { type Verdict, VERDICT_ORDER, VERDICTS } from "./result.ts";
import {
  DOMAINS,
  type Filter,
  filtered,
  KNOWN,
  MAX_Q,
  NEAR_PHOSPHOSITE,
  REGION_ORDER,
  REGIONS,
  type ScanMatch,
  shortNumber,
  TYPE_ORDER,
  TYPES,
  VALUE_OF,
} from "./scan.ts";
import { VerdictGlyph } from "./verdict.tsx";

/** Filters beside the matches of a scan. */
export function ScanFilters(props: { matches: readonly ScanMatch[]; filter: Filter; setQuery: SetQuery }) {
  const { matches, filter, setQuery } = props;
  const isFiltered =
    filter.q < MAX_Q ||
    filter.best ||
    filter.phosphosite ||
    [filter.label, filter.type, filter.region, filter.domain, filter.known].some((one) => one.length > 0);
  return (
    <div class="scan-filters" role="group" aria-label="Filters">
      <Facet
        {...props}
        facet="label"
        title="Label"
        choices={VERDICT_ORDER.map((value) => [value, VERDICTS[value].name])}
      />
      <Facet
        {...props}
        facet="type"
        title="Class type"
        choices={TYPE_ORDER.map((value) => [value, TYPES[value].name])}
      />
      <Facet
        {...props}
        facet="region"
        title="Region"
        choices={REGION_ORDER.map((value) => [value, REGIONS[value]])}
      />
      {matches.some(({ notes }) => notes !== null) && <KnownFilters {...props} />}
      <fieldset>
        <legend>Overlapping matches</legend>
        <Checkbox
          label="Best of each group"
          checked={filter.best}
          onChange={(best) => setQuery({ best: best ? "yes" : null }, { replace: true })}
        />
      </fieldset>
      <MaxQ {...{ matches, filter, setQuery }} />
      {isFiltered && (
        <Button
          small
          onClick={() =>
            setQuery(
              {
                label: null,
                type: null,
                region: null,
                domain: null,
                known: null,
                phosphosite: null,
                q: null,
                best: null,
              },
              { replace: true },
            )
          }
        >
          Clear filters
        </Button>
      )}
    </div>
  );
}

/** Filters by imported features. */
function KnownFilters(props: { matches: readonly ScanMatch[]; filter: Filter; setQuery: SetQuery }) {
  const { matches, filter, setQuery } = props;
  const near = filtered(matches, { ...filter, phosphosite: true }).length;
  return (
    <>
      {matches.some(({ notes }) => notes && notes.domains.length > 0) && (
        <Facet {...props} facet="domain" title="Domains" choices={Object.entries(DOMAINS)} />
      )}
      <Facet {...props} facet="known" title="Known instances" choices={Object.entries(KNOWN)} />
      {matches.some(({ notes }) => notes && notes.phosphosite !== null) && (
        <fieldset>
          <legend>Phosphosites</legend>
          <Checkbox
            label={
              <span class="facet">
                Within {NEAR_PHOSPHOSITE} residues <small class="end">{near}</small>
              </span>
            }
            checked={filter.phosphosite}
            onChange={(on) => setQuery({ phosphosite: on ? "near" : null }, { replace: true })}
          />
        </fieldset>
      )}
    </>
  );
}

function Facet(props: {
  matches: readonly ScanMatch[];
  filter: Filter;
  setQuery: SetQuery;
  facet: keyof typeof VALUE_OF;
  title: string;
  choices: readonly (readonly [value: string, name: string])[];
}) {
  const { matches, filter, setQuery, facet, title } = props;
  const chosen = filter[facet];
  const values = filtered(matches, filter, facet).map(VALUE_OF[facet]);
  const occurring = new Set(matches.map(VALUE_OF[facet]));
  const choices = props.choices.filter(([value]) => occurring.has(value) || chosen.includes(value));
  if (choices.length === 0) return null;
  return (
    <fieldset>
      <legend>{title}</legend>
      {choices.map(([value, name]) => (
        <Checkbox
          key={value}
          label={
            <span class="facet">
              {facet === "label" && <VerdictGlyph verdict={value as Verdict} />}
              {name} <small class="end">{values.filter((one) => one === value).length}</small>
            </span>
          }
          checked={chosen.includes(value)}
          onChange={(on) =>
            setQuery(
              { [facet]: on ? [...chosen, value] : chosen.filter((one) => one !== value) },
              { replace: true },
            )
          }
        />
      ))}
    </fieldset>
  );
}

/** Bars of the number of matches by q, above the slider. */
const BINS = 20;

function MaxQ({
  matches,
  filter,
  setQuery,
}: {
  matches: readonly ScanMatch[];
  filter: Filter;
  setQuery: SetQuery;
}) {
  const counts = Array<number>(BINS).fill(0);
  for (const { q } of matches) if (q != null) counts[Math.min(BINS - 1, Math.floor((q / MAX_Q) * BINS))]++;
  const most = Math.max(1, ...counts);
  return (
    <fieldset>
      <legend>
        <label for="max-q">q at most</label> <output for="max-q">{shortNumber(filter.q)}</output>
      </legend>
      <svg class="q-bars" viewBox={`0 0 ${BINS} 10`} preserveAspectRatio="none" aria-hidden="true">
        {counts.map((count, i) => (
          <rect key={i} x={i + 0.15} width="0.7" y={10 - (10 * count) / most} height={(10 * count) / most} />
        ))}
      </svg>
      <input
        id="max-q"
        type="range"
        min="0"
        max={MAX_Q}
        step="0.005"
        value={filter.q}
        onInput={({ currentTarget: { value } }) =>
          setQuery({ q: Number(value) < MAX_Q ? value : null }, { replace: true })
        }
      />
    </fieldset>
  );
}
