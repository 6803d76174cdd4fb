import type { ComparedMatch, Comparison } from "../../scoring/index.ts";
import {
  CHANGES,
  FATES,
  isInBoth,
  type MatchChange,
  type MatchFate,
} from "../../scoring/table/match-changes.ts";
import { href } from "../address.ts";
import { Empty } from "../components/empty.tsx";
import { Select } from "../components/field.tsx";
import { Card, KeyValues, Tag } from "../components/layout.tsx";
import { type Column, Table } from "../components/table.tsx";
import { pluralize, formatCount } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { STATES } from "./homolog-table.tsx";
import { shortJobTitle } from "./protein-identity.tsx";
import { CONSERVATION, decimal, overallP, formatPValue, shorten } from "./result.ts";
import { VerdictTag } from "./verdict.tsx";

type Numbers = NonNullable<ComparedMatch["a"]>;
type Homolog = ComparedMatch["responsible"][number];

/** Names of the two results. */
export type SideNames = readonly [first: string, second: string];

/** Corpus, choice and homologs of one of the results. */
export function Side({ title, side }: { title: string; side: Comparison["a"] }) {
  const { job, variant, method, model, corpus, homologs, onlyHere, warnings } = side;
  return (
    <Card title={title} actions={<a href={href(`/score/${job}`)}>Show the result</a>}>
      <KeyValues
        of={[
          ["Protein", shortJobTitle(side)],
          ["Variant", variant],
          ["Homologs", `${formatCount(homologs)}, of which ${formatCount(onlyHere.length)} only here`],
          [
            "From",
            corpus ? `${corpus.name} (${pluralize(corpus.sequences, "protein")})` : "your own alignment",
          ],
          ["Method", `${method}, ${model} model`],
          ["Notes", warnings.join(" ")],
        ]}
      />
      {onlyHere.length > 0 && (
        <details class="hint">
          <summary>Homologs only here</summary>
          <p>{onlyHere.join(", ")}</p>
        </details>
      )}
    </Card>
  );
}

/** All matches, or those whose verdict changed, side by side. */
export function ComparedMatches({ comparison, names }: { comparison: Comparison; names: SideNames }) {
  const [query, setQuery] = useQuery();
  const onlyFlipped = query.get("show") === "changed";
  const rows = comparison.matches.filter(
    (match) => !onlyFlipped || match.isFlipped || ((match.change ?? match.fate) && !isInBoth(match)),
  );
  return (
    <Card
      title="Matches"
      bare
      count={comparison.matches.length}
      actions={
        <Select
          small
          label="Matches"
          value={onlyFlipped ? "changed" : ""}
          choices={[
            ["", "All matches"],
            ["changed", "Changed verdicts"],
          ]}
          onChange={(show) => setQuery({ show }, { replace: true })}
        />
      }
    >
      {rows.length > 0 ? (
        <Table
          caption="Matches of both results"
          columns={makeColumns(names)}
          rows={rows}
          first={{ rows: 100, of: "matches" }}
          rowKey={({ a, b }) => `${a?.number} ${b?.number}`}
        />
      ) : (
        <Empty title="No verdict changed">
          <p>P values and the homologs may still differ: show all matches.</p>
        </Empty>
      )}
    </Card>
  );
}

const makeColumns = ([first, second]: SideNames): Column<ComparedMatch>[] => [
  {
    name: "match",
    title: "Match",
    heading: true,
    cell: (match) => <MatchName match={match} />,
  },
  { name: "a", title: first, cell: (match) => <SideCell match={match} of={match.a} /> },
  { name: "b", title: second, cell: (match) => <SideCell match={match} of={match.b} /> },
  { name: "change", title: "Difference", cell: (match) => <Difference match={match} /> },
];

/** Place, where it is another than that of the row, verdict and conservation. */
const SideCell = ({ match, of }: { match: ComparedMatch; of: Numbers | null }) => (
  <>
    {of && (of.start !== match.start || of.text !== match.text) && (
      <small class="second-line">
        <code>{shorten(of.text, 20)}</code> {of.start}–{of.end}
      </small>
    )}
    <Overall of={of} missing={match.fate && "no match"} />
    <Kept of={of} />
  </>
);

export const MatchName = ({ match: { motif, start, end, text } }: { match: ComparedMatch }) => (
  <>
    <code>{shorten(text, 20)}</code>
    <small class="second-line">
      {start}–{end} · {motif}
    </small>
  </>
);

export const Overall = ({
  of,
  missing = "not searched",
}: {
  of: Numbers | null;
  missing?: string | undefined;
}) =>
  of === null ? (
    <span class="muted">{missing}</span>
  ) : (
    <span>
      <VerdictTag match={of} />
      <small class="second-line nowrap">
        P&nbsp;{formatPValue(overallP(of))}, z&nbsp;{decimal(of.z)}
      </small>
    </span>
  );

const Kept = ({ of }: { of: Numbers | null }) =>
  of && (
    <small class="second-line">
      {of.homologs === 0 ? "no homologs" : `kept in ${of.kept} of ${of.homologs}`}
      {of.nearby ? `, ${of.nearby} nearby` : ""}, {CONSERVATION[of.conservationLevel].name}
    </small>
  );

const CHANGE_TONES: Readonly<Partial<Record<MatchChange, "danger" | "warn" | "ok">>> = {
  broken: "danger",
  weaker: "warn",
  stronger: "ok",
  new: "ok",
};

/** The change of a match by a variant. */
export const ChangeTag = ({ change }: { change: MatchChange }) => (
  <span title={CHANGES[change]}>
    <Tag tone={CHANGE_TONES[change]}>{change}</Tag>
  </span>
);

const FATE_TONES: Readonly<Record<MatchFate, "danger" | "warn" | "ok" | undefined>> = {
  kept: undefined,
  moved: "warn",
  lost: "danger",
  gained: "ok",
};

/** Difference in words, so that it does not depend on colour. */
function Difference({ match }: { match: ComparedMatch }) {
  const { a, b, fate, change } = match;
  if (change) return <ChangeTag change={change} />;
  return (
    <>
      {fate ? (
        <span title={FATES[fate]}>
          <Tag tone={FATE_TONES[fate]}>{fate}</Tag>
        </span>
      ) : (
        (!a || !b) && <Tag>only one result</Tag>
      )}
      {a && b && <small class="second-line">{differenceText(match, a, b)}</small>}
    </>
  );
}

function differenceText({ isFlipped }: ComparedMatch, a: Numbers, b: Numbers): string {
  if (isFlipped) return "verdict changed";
  if (a.conservationLevel !== b.conservationLevel) return "conservation changed";
  return a.z === b.z && a.score === b.score ? "same numbers" : "numbers only";
}

/** Matches whose verdicts changed, with the homologs behind it. */
export const FlippedMatches = ({ matches }: { matches: readonly ComparedMatch[] }) => (
  <ul class="list">
    {matches.map((match) => (
      <li key={`${match.motif} ${match.start} ${match.end}`} class="flip">
        <div class="row">
          <span>
            <MatchName match={match} />
          </span>
          <Overall of={match.a} />
          <span aria-label="became">→</span>
          <Overall of={match.b} />
        </div>
        <Responsible of={match.responsible} />
      </li>
    ))}
  </ul>
);

/** Homologs of a state that are named before "and 12 others". */
const NAMED = 6;

/** `kept in 14: P13481, Chlorocebus aethiops; …`. */
function statesText(rows: readonly Homolog[], findState: (homolog: Homolog) => string): string {
  const order = Object.values(STATES);
  const groups = [...Map.groupBy(rows, findState)].toSorted(
    ([a], [b]) => order.indexOf(a) - order.indexOf(b),
  );
  return groups
    .map(([state, homologs]) => {
      const names = homologs
        .slice(0, NAMED)
        .map(({ accession, organism }) => (organism ? `${accession} (${organism})` : accession));
      const others = homologs.length - names.length;
      const more = others > 0 ? ` and ${pluralize(others, "other")}` : "";
      return `${state} in ${homologs.length}: ${names.join(", ")}${more}`;
    })
    .join("; ");
}

function Responsible({ of }: { of: readonly Homolog[] }) {
  const groups = [
    {
      title: "Homologs gained",
      rows: of.filter(({ a }) => a === null),
      text: ({ b }: Homolog) => STATES[b!],
    },
    { title: "Homologs lost", rows: of.filter(({ b }) => b === null), text: ({ a }: Homolog) => STATES[a!] },
    {
      title: "The match in the same homologs",
      rows: of.filter(({ a, b }) => a !== null && b !== null),
      text: ({ a, b }: Homolog) => `${STATES[a!]} → ${STATES[b!]}`,
    },
  ].filter(({ rows }) => rows.length > 0);
  if (groups.length === 0)
    return (
      <p class="hint">
        The same homologs keep and lose the match; their weights, their alignment around it or the null
        distribution changed.
      </p>
    );
  return (
    <KeyValues
      of={groups.map(({ title, rows, text }) => [`${title}: ${rows.length}`, statesText(rows, text)])}
    />
  );
}
