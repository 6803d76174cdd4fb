import { useMemo } from "preact/hooks";
import { href } from "../address.ts";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { countOf } from "../format.tsx";
import { definePage, useParams, useQuery, useTitle } from "../page.tsx";
import { get } from "../request.ts";
import { copyLink } from "../score/downloads.tsx";
import { useFeatures } from "../score/features.ts";
import { jobPath, useJob } from "../score/job.ts";
import { JobProgress, NoResult } from "../score/job-progress.tsx";
import { ProteinIdentity, titleOfJob } from "../score/protein-identity.tsx";
import { filtered, filterIn, type Scan, scanAnswer } from "../score/scan.ts";
import { ScanMatches } from "../score/scan-matches.tsx";
import { ScanOverview } from "../score/scan-overview.tsx";
import { WatchButton } from "../score/watch-button.tsx";

function MotifScanResult() {
  const id = useParams().job ?? "";
  const { job, error } = useJob(id);
  const isFinished = job?.state === "finished";
  const scan = useLoaded(isFinished ? id : null, (signal) => get<Scan>(`${jobPath(id)}/scan`, {}, signal));
  const name = titleOfJob(job, "Protein");
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
        <Loaded of={scan}>{(value) => <ScanView job={id} scan={value} />}</Loaded>
      ) : (
        job && (job.ended === null ? <JobProgress job={job} /> : <NoResult job={job} />)
      )}
    </>
  );
}

const Facts = ({ scan: { queryLength, homologs, corpus, matches, classes } }: { scan: Scan }) => (
  <>
    {countOf(queryLength, "residue")}, {countOf(homologs, "homolog")}
    {corpus && ` from ${corpus.name}`}. {countOf(matches.length, "match", "matches")} of{" "}
    {new Set(matches.map(({ motif }) => motif)).size} classes; {classes} tested.
  </>
);

function ScanView({ job, scan }: { job: string; scan: Scan }) {
  const [query] = useQuery();
  const known = useFeatures(job).value;
  const { matches } = scan;
  const passing = useMemo(() => filtered(matches, filterIn(query)), [matches, query.toString()]);
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
        <Banner key={warning} tone="warn">
          {warning}
        </Banner>
      ))}
      <div class="answer">
        <p>{scanAnswer(scan)}</p>
        <small>
          The label follows q, not P: with {scan.tested} matches, some P values are low by chance. q is the
          share of random matches to expect among a match and all above it. To judge a match that you
          expected, use its P.
        </small>
      </div>
      <ScanOverview scan={scan} shown={passing} known={known?.features} />
      <ScanMatches
        matches={matches}
        download={{ path: `${jobPath(job)}/scan`, name: `${fileName(scan.identifier)}-scan` }}
        jobOf={() => job}
        foot={<ScanHelp />}
      />
    </div>
  );
}

const fileName = (identifier: string): string =>
  (identifier || "protein").replace(/[^\w.-]+/g, "_").slice(0, 60);

const ScanHelp = () => (
  <details>
    <summary>What the columns mean</summary>
    <dl class="kv">
      <dt>Label</dt>
      <dd>
        Likely functional: q at most 0.05. Possible: q at most 0.2. In a scan the label follows q; the result
        of a single motif follows P.
      </dd>
      <dt>P</dt>
      <dd>
        Share of comparable random matches with at least this z. Values are bounds below 0.0001 and above 0.5.
      </dd>
      <dt>q</dt>
      <dd>
        Expected share of random matches among this one and those with smaller q (Benjamini and Hochberg over
        all matches of the scan), if the matches were independent. Filters do not change it; a scan of fewer
        classes does.
      </dd>
      <dt>Known</dt>
      <dd>
        Imported instances of the class at the match, or at the same place of an aligned homolog. They do not
        change P, q or label.
      </dd>
      <dt>Group</dt>
      <dd>Matches that overlap by at least half of the shorter one, with the best first.</dd>
    </dl>
  </details>
);

export const motifScanResultPage = definePage({
  name: "motif-scan-result",
  paths: ["/scan/:job"],
  title: "Motif scan",
  View: MotifScanResult,
});
