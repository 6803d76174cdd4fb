import { href } from "../address.ts";
import { type Column, Table } from "../components/table.tsx";
import { formatCount } from "../format.tsx";
import { sortable } from "./order.ts";
import { databasesOf } from "./protein-identity.tsx";
import { labelOf, type Match, scoreQuery, type Search } from "./proteome.ts";
import { decimal, pText, shorten, VERDICTS } from "./result.ts";
import { shortNumber } from "./scan.ts";
import { Kept, VerdictTag } from "./verdict.tsx";

/** Residues in the cell of a match. */
const MAX_RESIDUES = 14;
/** Smallest width of a match in the drawing of its protein, in per cent. */
const NARROWEST = 3;

const columnsOf = (search: Search): readonly Column<Match>[] =>
  [
    sortable<Match>("protein", "Protein", (match) => <ProteinLink search={search} match={match} />, {
      heading: true,
    }),
    column("label", "Label", (match) => <VerdictTag verdict={labelOf(match)} />, { phone: "end" }),
    sortable<Match>("start", "Match", (match) => (
      <>
        <Residues of={match} />
        <small class="second-line">
          {match.start}–{match.end} of {formatCount(match.protein.length)}
        </small>
      </>
    )),
    sortable<Match>("disorder", "Place", (match) => <Place of={match} />, { phone: "hide" }),
    sortable<Match>("kept", "Kept in homologs", (match) => (
      <Kept kept={match.kept ?? 0} of={match.homologs} words="" />
    )),
    sortable<Match>("z", "z", ({ z }) => decimal(z), { numeric: true, phone: "hide" }),
    sortable<Match>("p", "P", ({ overallPValue: p, overallPValueIs: is }) => pText({ p, is }), {
      numeric: true,
    }),
    sortable<Match>("q", "q", ({ q }) => shortNumber(q), { numeric: true }),
    search.results.some(({ notes }) => notes !== null)
      ? column("known", "Known instance", (match) => <KnownInstance of={match} />)
      : undefined,
  ].filter((each) => each !== undefined);

const column = (
  name: string,
  title: string,
  cell: Column<Match>["cell"],
  options: Partial<Column<Match>> = {},
): Column<Match> => ({ name, title, cell, ...options });

/** Leads to scoring the protein for the motif; its entry in UniProt is beside. */
function ProteinLink({ search, match: { protein, start } }: { search: Search; match: Match }) {
  const { gene, accession, name, organism } = protein;
  const [uniprot] = databasesOf(accession);
  return (
    <>
      <a href={href("/score", scoreQuery(search, protein))}>
        {gene ?? accession}
        <span class="unseen">{` at ${start}`}</span>
      </a>{" "}
      {uniprot && gene && (
        <a class="accession" href={uniprot[1]} aria-label={`${accession} in UniProt`}>
          {accession}
        </a>
      )}
      <small class="second-line protein-name" title={name}>
        {search.organism === null && organism && (
          <>
            <i>{organism}</i>
            {name && ", "}
          </>
        )}
        {name}
      </small>
    </>
  );
}

/** The match between as much of its flanks as there is room for. */
function Residues({ of: { before, text, after } }: { of: Match }) {
  const room = Math.max(0, Math.floor((MAX_RESIDUES - text.length) / 2));
  return (
    <code class="nowrap">
      <span class="muted">{before.slice(Math.max(0, before.length - room))}</span>
      <b>{shorten(text, MAX_RESIDUES)}</b>
      <span class="muted">{after.slice(0, room)}</span>
    </code>
  );
}

/** The match in the whole protein, and how disordered it is. */
const Place = ({ of: { start, end, protein, disorder, label } }: { of: Match }) => (
  <>
    <svg class="mini" height="16" aria-hidden="true">
      <rect class="mini-base" y="6" width="100%" height="4" rx="2" />
      <rect
        class={`tone-${VERDICTS[label ?? "not scored"].tone}`}
        x={`${Math.min((100 * (start - 1)) / protein.length, 100 - NARROWEST)}%`}
        y="1"
        width={`${Math.max(NARROWEST, (100 * (end - start + 1)) / protein.length)}%`}
        height="14"
        rx="1.5"
      />
    </svg>
    <small class="second-line">
      {(disorder ?? 0) > 0.5 ? "disordered" : "ordered"} {decimal(disorder)}
    </small>
  </>
);

const KnownInstance = ({ of: { notes } }: { of: Match }) => (
  <>{notes?.instances.map(({ id, name }) => id || name).join(", ")}</>
);

/** A page of matches; each row leads to scoring its protein. */
export const ProteomeTable = (props: { search: Search; order: string; onOrder: (order: string) => void }) => (
  <div class="dense">
    <Table
      caption="Matches in all proteins"
      columns={columnsOf(props.search)}
      rows={props.search.results}
      keyOf={({ rank }) => rank}
      order={props.order}
      onOrder={props.onOrder}
    />
  </div>
);
