import type { ChoiceFilter, Facets, FilterValues, LimitFilter } from "../../scoring/table/filters.ts";
import type { TableRow } from "../../scoring/table/match-row.ts";
import type { MatchTable } from "../../scoring/table/match-tables.ts";
import { type MatchVerdict, VERDICTS } from "../../scoring/table/verdict.ts";
import { Button } from "../components/button.tsx";
import { Facet } from "../components/facet.tsx";
import { useQuery } from "../page.tsx";
import { firstPage, isFiltered, withoutFilters } from "./match-view.ts";
import { shortNumber } from "./result.ts";
import { VerdictGlyph } from "./verdict.tsx";

/** Largest q that can be chosen; a larger one filters nothing. */
const MAX_Q = 0.5;

interface FilterProps {
  facets: Facets;
  values: FilterValues;
  /** Rows that the page has, for the number of matches by q. */
  rows: readonly TableRow[];
  isPaged?: boolean;
}

interface SheetProps extends FilterProps {
  table: MatchTable;
  hasFeatures: boolean;
  /** Names of filters that are shown only while they are in force. */
  without?: readonly string[] | undefined;
  /** Id by which buttons open the sheet. */
  id: string;
  /** Rows that are listed, on the button that closes the sheet: `17 places`. */
  shown: string;
  /** The sheet is closed on wide windows, too. */
  isClosed: boolean;
}

/** The filters of a table: a column beside it, or a sheet that opens above the page. */
export function FilterSheet(props: SheetProps) {
  const { table, values, id, shown, isClosed } = props;
  const [, setQuery] = useQuery();
  return (
    <aside id={id} class={isClosed ? "sheet" : "sheet sheet-column"} popover="auto" aria-label="Filters">
      <div class="sheet-head">
        <h2>Filters</h2>
        <Button
          look="quiet"
          small
          icon="x"
          aria-label="Close"
          popovertarget={id}
          popovertargetaction="hide"
        />
      </div>
      <MatchFilters {...props} />
      <div class="sheet-foot">
        {isFiltered(values) && (
          <Button
            small
            onClick={() => setQuery({ ...withoutFilters(table), ...firstPage(props) }, { replace: true })}
          >
            Clear filters
          </Button>
        )}
        <Button look="primary" popovertarget={id} popovertargetaction="hide">{`Show ${shown}`}</Button>
      </div>
    </aside>
  );
}

/** The filters of a table, which the address keeps. A change leads to the first page. */
function MatchFilters(props: SheetProps) {
  const { table, values, hasFeatures } = props;
  const [, setQuery] = useQuery();
  const set = (name: string, value: readonly string[] | string | null): void =>
    setQuery({ [name]: value, ...firstPage(props) }, { replace: true });
  const shown = table.columns
    .flatMap(({ of, filter }) => (filter && (of !== "features" || hasFeatures) ? filter : []))
    .filter(({ name }) => !props.without?.includes(name) || name in values)
    .toSorted((a, b) => filterRank(a) - filterRank(b));
  return (
    <div class="facets stack" role="group" aria-label="Filters">
      {shown.map((filter) =>
        filter.kind === "limit" ? (
          <Limit key={filter.name} {...props} filter={filter} onChange={(text) => set(filter.name, text)} />
        ) : (
          <Choices
            key={filter.name}
            {...props}
            filter={filter}
            onChange={(chosen) => set(filter.name, chosen)}
          />
        ),
      )}
    </div>
  );
}

/** Verdicts come first, and lists that may be long last. */
const filterRank = (filter: ChoiceFilter | LimitFilter): number =>
  filter.kind === "limit" ? 1 : filter.choices === null ? 2 : filter.name === "verdict" ? 0 : 1;

/** The values of a choice that occur or are chosen, in their order; declared ones without counts where none are known. */
function listChoices({ name, choices, single }: ChoiceFilter, facets: Facets, chosen: readonly string[]) {
  const counted = new Map((facets[name] ?? []).map((choice) => [choice.value, choice]));
  if (!choices)
    return [...counted.values()].map((choice) => ({
      value: choice.value,
      name: choice.name,
      count: choice.count as number | null,
    }));
  const lacksCounts = counted.size === 0 && single !== undefined;
  return Object.entries(choices)
    .filter(([value]) => lacksCounts || counted.has(value) || chosen.includes(value))
    .map(([value, title]) => ({ value, name: title, count: counted.get(value)?.count ?? null }));
}

function Choices(props: FilterProps & { filter: ChoiceFilter; onChange: (chosen: string[]) => void }) {
  const { filter, facets, values, onChange } = props;
  const chosen = (values[filter.name] ?? []) as readonly string[];
  const choices = listChoices(filter, facets, chosen);
  // A filter with a single value is not shown.
  if (choices.length < 2 && chosen.length === 0) return null;
  const shown = choices.map(({ value, name, count }) => ({
    value,
    count,
    name: value in VERDICTS ? <VerdictName of={value as MatchVerdict} name={name} /> : name,
  }));
  return (
    <Facet
      {...{ chosen, onChange }}
      title={filter.title}
      values={shown}
      single={filter.single !== undefined}
    />
  );
}

const VerdictName = ({ of, name }: { of: MatchVerdict; name: string }) => (
  <span class="row nowrap">
    <VerdictGlyph verdict={of} /> {name}
  </span>
);

interface LimitProps extends FilterProps {
  filter: LimitFilter;
  onChange: (text: string | null) => void;
}

function Limit(props: LimitProps) {
  const { filter, values, onChange } = props;
  if (filter.type === "fraction") return <Slider {...props} />;
  return (
    <fieldset>
      <legend>{filter.title}</legend>
      <input
        class="input"
        type="number"
        aria-label={filter.title}
        min={0}
        max={filter.maximum}
        value={values[filter.name] as number | undefined}
        onChange={({ currentTarget }) => onChange(currentTarget.value === "" ? null : currentTarget.value)}
      />
    </fieldset>
  );
}

/** Bars of the number of matches, above the slider. */
const BINS = 20;

function Slider({ filter, values, rows, onChange }: LimitProps) {
  const value = (values[filter.name] as number | undefined) ?? MAX_Q;
  const id = `limit-${filter.name}`;
  return (
    <fieldset>
      <legend>
        <label for={id}>{filter.title}</label> <output for={id}>{shortNumber(value)}</output>
      </legend>
      <Bars filter={filter} rows={rows} />
      <input
        id={id}
        type="range"
        min="0"
        max={MAX_Q}
        step="0.005"
        value={value}
        onInput={({ currentTarget }) =>
          onChange(Number(currentTarget.value) < MAX_Q ? currentTarget.value : null)
        }
      />
    </fieldset>
  );
}

function Bars({ filter, rows }: { filter: LimitFilter; rows: readonly TableRow[] }) {
  const counts = Array<number>(BINS).fill(0);
  for (const row of rows) {
    const value = filter.readValue(row);
    if (value != null) counts[Math.min(BINS - 1, Math.floor((value / MAX_Q) * BINS))]++;
  }
  const most = Math.max(...counts);
  if (most === 0) return null;
  return (
    <svg class="q-bars" viewBox={`0 0 ${BINS} 10`} preserveAspectRatio="none" aria-hidden="true">
      {counts.map((count, i) => (
        <rect key={i} x={i + 0.15} width="0.7" y={10 - (10 * count) / most} height={(10 * count) / most} />
      ))}
    </svg>
  );
}
