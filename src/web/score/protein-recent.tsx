import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { LinkButton } from "../components/button.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { capitalized, formatCount, formatDate, pluralize } from "../format.tsx";
import { call } from "../request.ts";
import type { Protein, ProteinJob, ProteinMatch } from "./protein.ts";
import { type Search, searchTitle } from "./proteome.ts";
import { ResultRow, SCANNED } from "./recent-results.tsx";
import { countVerdicts } from "./result.ts";

/** Newest searches of proteomes in which the protein is looked for. */
const SEARCHES = 5;

/** The caller's searches of proteomes with matches in a protein. @throws ApiError */
async function readSearches(protein: string, signal: AbortSignal) {
  const tasks = { kind: "proteome-search", owner: "me", limit: SEARCHES } as const;
  const { results } = await call("GET /api/tasks/", { query: tasks, signal });
  const finished = results.filter(({ state }) => state === "finished");
  const searches = await Promise.all(
    finished.map(({ id }) =>
      call("GET /api/scoring/proteome/searches/:id", {
        params: { id },
        query: { protein, limit: 1 },
        signal,
      }),
    ),
  );
  return searches.filter((search) => search.results.length > 0);
}

/** A search of a proteome, and the rank of the protein's best match in it. */
const SearchResult = ({ of }: { of: Search }) => (
  <ResultRow
    path={`/proteome/${of.id}`}
    title={searchTitle(of)}
    facts={`Rank ${formatCount(of.results[0].rank)} of ${pluralize(of.matches, "match", "matches")}.`}
    at={of.submitted}
  />
);

/** The results of the caller that are kept, the newest first, then searches of proteomes. */
export function ProteinRecent(props: {
  of: Protein;
  /** Matches of each job; undefined before they are loaded. */
  byJob: ReadonlyMap<string, readonly ProteinMatch[]> | undefined;
}) {
  const { protein, results, more } = props.of;
  const searches = useLoaded(protein.accession, (signal) => readSearches(protein.accession, signal));
  return (
    <Card title="Recent" count={results.length > 0 ? `${results.length}${more ? "+" : ""}` : undefined} bare>
      <ul class="list results">
        {results.map((job) => (
          <Result key={job.id} of={job} matches={props.byJob?.get(job.id)} />
        ))}
        {searches.value?.map((search) => (
          <SearchResult key={search.id} of={search} />
        ))}
        {results.length === 0 && (
          <li>
            <span class="grow">Your results of this protein appear here for as long as they are kept.</span>
            <LinkButton small href={href("/scan", { protein: protein.accession })}>
              Scan for all motif classes
            </LinkButton>
          </li>
        )}
      </ul>
    </Card>
  );
}

/** A fact as a sentence. */
const sentence = (text: string | false | null | undefined): string =>
  text ? `${capitalized(text).replace(/\.$/, "")}.` : "";

function Result({ of: job, matches }: { of: ProteinJob; matches: readonly ProteinMatch[] | undefined }) {
  const { id, state, motifs, motifCount, variant, hasOwnAlignment, submitted, expires } = job;
  const isScan = motifCount >= SCANNED;
  const title = motifCount > motifs.length ? pluralize(motifCount, "motif") : motifs.join(", ");
  const facts = [
    variant && `variant ${variant}`,
    hasOwnAlignment && "own alignment",
    state === "finished" ? variant === null && matches && countVerdicts(matches) : state,
    expires && `kept until ${formatDate(expires)}`,
  ];
  return (
    <ResultRow
      path={`/${isScan ? "scan" : "score"}/${id}`}
      title={title}
      facts={facts.filter(Boolean).map(sentence).join(" ")}
      at={submitted}
    />
  );
}
