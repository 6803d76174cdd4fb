import type { JointScanObject } from "../../scoring/index.ts";
import { useMemo } from "preact/hooks";
import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { href } from "../address.ts";
import { Empty } from "../components/empty.tsx";
import { LinkButton } from "../components/button.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { pause, Skeleton, useLoaded } from "../components/loaded.tsx";
import { pluralize, formatCount } from "../format.tsx";
import { definePage, useQuery } from "../page.tsx";
import { ApiError, call } from "../request.ts";
import { useMatchView } from "../score/match-view.ts";
import { useClassNames, usePlaces } from "../score/scan.ts";
import { HowToCite } from "../score/how-to-cite.tsx";
import { ScanAnswer, ScanMatches } from "../score/scan-matches.tsx";

const PATH = "/api/scoring/scans";
/** Milliseconds between two looks whether all scans have finished. */
const POLL_MILLISECONDS = 1500;

type Protein = JointScanObject["proteins"][number];

const proteinName = ({ protein, identifier }: Protein): string => protein?.gene ?? (identifier || "protein");

/** The scans of several proteins as one table. */
function JointScan() {
  const [query] = useQuery();
  const jobs = query.getAll("job");
  const scan = useLoaded(jobs.length > 0 ? jobs.join() : null, (signal) => finished(jobs, signal));
  return (
    <>
      <PageHead
        title={`Motif scan of ${pluralize(jobs.length, "protein")}`}
        crumbs={[{ name: "Scans", href: href("/scan") }]}
        actions={
          <LinkButton look="primary" icon="plus" href={href("/scan")}>
            New scan
          </LinkButton>
        }
      >
        {scan.value && <Facts scan={scan.value} />}
      </PageHead>
      {scan.error !== undefined && <ErrorBanner error={scan.error} retry={scan.reload} />}
      {jobs.length === 0 ? (
        <Empty title="No scan is chosen">
          <p>Scan several proteins to see their matches together.</p>
          <LinkButton href={href("/scan")}>Scan proteins</LinkButton>
        </Empty>
      ) : scan.value ? (
        <JointView jobs={jobs} scan={scan.value} />
      ) : (
        scan.error === undefined && (
          <>
            <p role="status">The proteins are being scanned. Their matches appear when all have finished.</p>
            <Skeleton />
          </>
        )
      )}
    </>
  );
}

/** The table, once all jobs have finished. */
async function finished(jobs: readonly string[], signal: AbortSignal): Promise<JointScanObject> {
  for (;;) {
    try {
      return await call("GET /api/scoring/scans", { query: { jobs: [...jobs] }, signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "not_finished") throw error;
    }
    await pause(POLL_MILLISECONDS, signal);
  }
}

const Facts = ({ scan: { proteins, matches } }: { scan: JointScanObject }) => (
  <>
    {pluralize(matches.length, "match", "matches")} in {proteins.filter((one) => one.matches > 0).length} of{" "}
    {pluralize(proteins.length, "protein")}.
  </>
);

/** A match with the names of its protein, by which it can be filtered and ordered. */
const withProtein = <Match extends object>(match: Match, { identifier, protein }: Protein) =>
  Object.assign({}, match, { query: identifier, protein });

function JointView({ jobs, scan }: { jobs: readonly string[]; scan: JointScanObject }) {
  const { proteins, matches, tested } = scan;
  const rows = useMemo(() => matches.map((match) => withProtein(match, proteins[match.of])), [scan]);
  const view = useMatchView(MATCH_TABLES.scan, rows);
  const findProtein = (match: { of: number }): Protein => proteins[match.of];
  const { all, places } = usePlaces(rows, view, ({ of }) => of);
  const findClass = useClassNames();
  return (
    <div class="stack">
      <ScanAnswer
        {...{ matches: rows, all, tested, findClass }}
        findProtein={(match) => proteinName(findProtein(match))}
      >
        q is over the {formatCount(tested)} matches of all these proteins together, so that it differs from
        that of each protein alone. Verdicts do not differ.
      </ScanAnswer>
      <ScanMatches
        {...{ view, matches: rows, places, findClass }}
        download={{ path: PATH, query: { jobs: [...jobs] }, name: "scans" }}
        findJob={(match) => findProtein(match).job ?? ""}
        findProtein={(match) => proteinName(findProtein(match))}
      />
      <HowToCite of={scan.provenance} motifs={matches.map(({ motif }) => motif)} />
      <Card title="Proteins" count={proteins.length} bare>
        <ul class="list">
          {proteins.map((protein) => (
            <li key={protein.job}>
              <span class="grow">
                <a href={href(`/scan/${protein.job}`)}>{proteinName(protein)}</a>
                <small class="second-line">
                  {protein.protein?.name} {protein.protein?.organism}
                </small>
              </span>
              <small>{pluralize(protein.matches, "match", "matches")}</small>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

export const jointScanPage = definePage({
  name: "joint-scan",
  paths: ["/scans"],
  title: "Motif scan of several proteins",
  View: JointScan,
});
