import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { findVerdict } from "../../scoring/table/verdict.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { formatCount } from "../format.tsx";
import { useQuery } from "../page.tsx";
import type { PageColumn } from "./match-cells.tsx";
import { MatchTable, Rows } from "./match-table.tsx";
import { proteinHref } from "./protein-identity.tsx";
import {
  isOver,
  type Match,
  motifName,
  offsetIn,
  PAGE,
  scoreQuery,
  type Search,
  searchPath,
} from "./proteome.ts";
import { decimal, shorten, TONES } from "./result.ts";

/** Residues in the cell of a match. */
const MAX_RESIDUES = 14;
/** Smallest width of a match in the drawing of its protein, in per cent. */
const MIN_WIDTH = 3;

/** Columns that are shown by default. */
const COLUMNS = ["accession", "start", "disorder", "verdict", "kept", "overall_p", "q"];

const pageColumns = (search: Search): Record<string, PageColumn<Match>> => ({
  accession: { cell: (match) => <ProteinLink search={search} match={match} /> },
  start: {
    title: "Match",
    cell: (match) => (
      <>
        <Residues of={match} />
        <small class="second-line">
          {match.start}–{match.end} of {formatCount(match.protein.length)}
        </small>
      </>
    ),
  },
  disorder: { title: "In the protein", cell: (match) => <Place of={match} />, phone: "hide" },
});

/** A page of the matches of a search, with filters and downloads of all; each row leads to scoring its protein. */
export function ProteomeMatches({ search }: { search: Search }) {
  const { results, matches, passing, facets } = search;
  const hasNotes = results.some(({ notes }) => notes != null);
  const name = `${motifName(search)
    .replace(/[^\w.-]+/g, "_")
    .slice(0, 40)}-proteome`;
  const props = {
    table: MATCH_TABLES.proteome,
    title: "Ranked matches",
    caption: "Matches in all proteins",
    view: { rows: results, total: matches, passing, facets },
    all: results,
    isPaged: true,
    rowKey: ({ rank }: Match) => rank,
    columns: hasNotes ? [...COLUMNS, "known_instance"] : COLUMNS,
    own: pageColumns(search),
    download: isOver(search)
      ? {
          path: `${searchPath(search.id)}/matches`,
          name,
          others: { json: { title: "JSON", extension: "jsonl" } },
        }
      : undefined,
  };
  return (
    <MatchTable {...props}>
      <Rows {...props} />
      <Pages search={search} />
    </MatchTable>
  );
}

/** The shown matches, and buttons to the other pages. */
function Pages({ search: { passing, results } }: { search: Search }) {
  const [query, setQuery] = useQuery();
  if (passing <= PAGE) return null;
  const offset = offsetIn(query);
  const turn = (to: number): void => setQuery({ from: to > 0 ? to + 1 : null });
  return (
    <nav class="card-foot row between" aria-label="Pages">
      <span role="status">
        {formatCount(offset + 1)}–{formatCount(offset + results.length)} of {formatCount(passing)}
      </span>
      <span class="row">
        <Button small disabled={offset === 0} onClick={() => turn(offset - PAGE)}>
          Previous
        </Button>
        <Button small disabled={offset + PAGE >= passing} onClick={() => turn(offset + PAGE)}>
          Next
        </Button>
      </span>
    </nav>
  );
}

/** Links to scoring the protein for the motif, and to its page. */
function ProteinLink({ search, match: { protein, start } }: { search: Search; match: Match }) {
  const { gene, accession, name, organism } = protein;
  return (
    <>
      <a href={href("/score", scoreQuery(search, protein))}>
        {gene ?? accession}
        <span class="unseen">{` at ${start}`}</span>
      </a>{" "}
      <a class="accession" href={proteinHref(protein)} aria-label={`${accession}, protein`}>
        {gene ? accession : "protein"}
      </a>
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
const Place = ({ of: match }: { of: Match }) => (
  <>
    <svg class="mini" height="16" aria-hidden="true">
      <rect class="mini-base" y="6" width="100%" height="4" rx="2" />
      <rect
        class={`tone-${TONES[findVerdict(match)]}`}
        x={`${Math.min((100 * (match.start - 1)) / match.protein.length, 100 - MIN_WIDTH)}%`}
        y="1"
        width={`${Math.max(MIN_WIDTH, (100 * (match.end - match.start + 1)) / match.protein.length)}%`}
        height="14"
        rx="1.5"
      />
    </svg>
    <small class="second-line">{match.disorder != null && `disorder ${decimal(match.disorder)}`}</small>
  </>
);
