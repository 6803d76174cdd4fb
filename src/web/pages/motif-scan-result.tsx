import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { definePage, useParams, useTitle } from "../page.tsx";
import { CompareWith } from "../score/compare-with.tsx";
import { copyLink } from "../score/downloads.tsx";
import { useFeatures } from "../score/features.ts";
import { type Job, jobPath, useJob } from "../score/job.ts";
import { JobProgress, NoResult } from "../score/job-progress.tsx";
import { ProteinIdentity, jobTitle } from "../score/protein-identity.tsx";
import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { useMatchView } from "../score/match-view.ts";
import { readScan, type Scan, useClassNames, usePlaces } from "../score/scan.ts";
import { QueryWarning } from "../score/query-warning.tsx";
import { ScanAnswer, ScanMatches } from "../score/scan-matches.tsx";
import { ScanOverview } from "../score/scan-overview.tsx";
import { citedIn, HowToCite } from "../score/how-to-cite.tsx";
import { Variants } from "../score/variants.tsx";
import { WatchButton } from "../score/watch-button.tsx";

function MotifScanResult() {
  const id = useParams().job ?? "";
  const { job, error } = useJob(id);
  const isFinished = job?.state === "finished";
  const scan = useLoaded(isFinished ? id : null, (signal) => readScan(id, signal));
  const name = jobTitle(job, "Protein");
  useTitle(job ? `${name}: motif scan` : undefined);
  return (
    <>
      <PageHead
        title={`${name}: motif scan`}
        crumbs={[{ name: "Scans", href: href("/scan") }]}
        actions={
          <>
            <Button icon="copy" onClick={() => void copyLink()}>
              Copy link
            </Button>
            <WatchButton job={job} />
            {isFinished && <CompareWith job={id} />}
            <LinkButton look="primary" icon="plus" href={href("/scan")}>
              New scan
            </LinkButton>
          </>
        }
      >
        <ProteinIdentity of={job?.protein} />
        {scan.value && <Facts scan={scan.value} />}
      </PageHead>
      {error !== null && <ErrorBanner error={error} />}
      {isFinished ? (
        <Loaded of={scan}>{(value) => <ScanView job={job} scan={value} />}</Loaded>
      ) : (
        job && (job.ended === null ? <JobProgress job={job} /> : <NoResult job={job} />)
      )}
    </>
  );
}

const Facts = ({ scan: { queryLength, homologs, corpus, matches, classes } }: { scan: Scan }) => (
  <>
    {pluralize(queryLength, "residue")}, {pluralize(homologs, "homolog")}
    {corpus && ` from ${corpus.name}`}. {pluralize(matches.length, "match", "matches")} of{" "}
    {new Set(matches.map(({ motif }) => motif)).size} classes; {classes} tested.
  </>
);

function ScanView({ job, scan }: { job: Job; scan: Scan }) {
  const known = useFeatures(job.id).value;
  const { matches } = scan;
  const view = useMatchView(MATCH_TABLES.scan, matches);
  const { all, places } = usePlaces(matches, view);
  const findClass = useClassNames();
  const general = scan.warnings.filter(
    (warning) => !matches.some(({ motif }) => warning.startsWith(`${motif}: `)),
  );
  if (matches.length === 0)
    return (
      <Empty title="No motif class matches this protein">
        <p>{scan.classes} classes were tested.</p>
        <LinkButton href={href("/scan")}>Scan another protein</LinkButton>
      </Empty>
    );
  return (
    <div class="stack">
      {general.map((warning) => (
        <QueryWarning key={warning} text={warning} address={(protein) => href("/scan", { protein })} />
      ))}
      <ScanAnswer {...{ matches, all, findClass }} tested={scan.tested}>
        With {formatCount(scan.tested)} matches, some P values are low by chance: q is the share of random
        matches to expect among a match and those with lower q.
      </ScanAnswer>
      <ScanOverview
        {...{ scan, places, findClass }}
        fileName={fileName(scan.identifier)}
        known={known?.features}
      />
      <ScanMatches
        {...{ view, matches, places, findClass }}
        download={{ path: `${jobPath(job.id)}/scan`, name: `${fileName(scan.identifier)}-scan` }}
        findJob={() => job.id}
      />
      <Variants job={job} />
      <HowToCite of={citedIn(scan)} motifs={matches.map(({ motif }) => motif)} />
    </div>
  );
}

const fileName = (identifier: string): string =>
  (identifier || "protein").replace(/[^\w.-]+/g, "_").slice(0, 60);

export const motifScanResultPage = definePage({
  name: "motif-scan-result",
  paths: ["/scan/:job"],
  title: "Motif scan",
  View: MotifScanResult,
});
