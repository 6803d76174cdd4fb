import { useEffect, useState } from "preact/hooks";
import { findVerdict, type MatchVerdict } from "../../scoring/table/verdict.ts";
import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { useLoaded, useReloadUntil } from "../components/loaded.tsx";
import { pluralize, formatCount, formatTime } from "../format.tsx";
import { ApiError, call } from "../request.ts";
import { type Job, type RecentJob, recentJobs, recentProteomes, recentScans, readJob } from "./job.ts";
import { jobTitle } from "./protein-identity.tsx";
import { isOver, searchTitle } from "./proteome.ts";
import { TONES, VERDICT_ORDER } from "./result.ts";
import { type Scan, readScan } from "./scan.ts";
import { VerdictGlyph } from "./verdict.tsx";

/** Results that the card shows. */
const SHOWN = 6;
/** Milliseconds between two checks of a running job. */
const POLL = 2000;
/** Motifs that are named; more are counted. */
const NAMED = 3;

interface Recent extends RecentJob {
  /** Address of its page. */
  path: string;
}

/** The last results of this browser, which the server does not know, the newest first. */
export function RecentResults() {
  const [recent, setRecent] = useState<Recent[]>([]);
  useEffect(() => {
    const of = (path: string, jobs: RecentJob[]): Recent[] => jobs.map((job) => ({ ...job, path }));
    const all = [
      ...of("/score", recentJobs()),
      ...of("/scan", recentScans()),
      ...of("/proteome", recentProteomes()),
    ];
    setRecent(all.toSorted((a, b) => b.time - a.time).slice(0, SHOWN));
  }, []);
  return (
    <Card
      title="Recent results"
      bare
      actions={
        <LinkButton look="quiet" small href={href("/changes")}>
          Watched queries
        </LinkButton>
      }
    >
      <ul class="list results">
        {recent.length === 0 && <li class="muted">Results of this browser appear here.</li>}
        {recent.map((job) =>
          job.path === "/proteome" ? (
            <ProteomeResult key={job.id} of={job} />
          ) : (
            <Result key={job.id} of={job} />
          ),
        )}
      </ul>
    </Card>
  );
}

/** A result with only its title: one that is not loaded yet, or that the server has no more. */
const Line = ({ of: { id, path, title, time }, error }: { of: Recent; error: unknown }) => (
  <li>
    <a class="grow" href={href(`${path}/${id}`)}>
      {title}
    </a>
    <span class="end">
      {error instanceof ApiError && (error.status === 404 ? "no longer kept" : "not available")}
      <small>{formatTime(time)}</small>
    </span>
  </li>
);

/** A search of many proteins: its progress, then the number of matches with the best verdict. */
function ProteomeResult({ of }: { of: Recent }) {
  const found = useLoaded(of.id, (signal) =>
    call("GET /api/scoring/proteome/searches/:id", { params: { id: of.id }, query: { limit: 1 }, signal }),
  );
  useReloadUntil(found, isOver, POLL);
  if (!found.value) return <Line of={of} error={found.error} />;
  const { state, searched, total, labels, matches, matching } = found.value;
  const isRunning = !isOver(found.value);
  const best = VERDICT_ORDER.find((verdict) =>
    labels.some(({ value, count }) => value === verdict && count > 0),
  );
  return (
    <li>
      <span class="grow">
        <a href={href(`/proteome/${of.id}`)}>{searchTitle(found.value)}</a>
        <small>
          {isRunning
            ? `${formatCount(searched)} of ${pluralize(total, "protein")} searched`
            : `${pluralize(matches, "match", "matches")} in ${pluralize(matching, "protein")}`}
        </small>
      </span>
      {isRunning && (
        <progress aria-label="Progress" max={1} value={total > 0 ? searched / total : undefined} />
      )}
      <span class="end">
        {state === "finished" ? (
          <Answer best={best} count={labels.find(({ value }) => value === best)?.count ?? 0} />
        ) : (
          state
        )}
        <small>{formatTime(of.time)}</small>
      </span>
    </li>
  );
}

/** A protein that was scored: its matches along it, and the best verdict. */
function Result({ of }: { of: Recent }) {
  const found = useLoaded(of.id, async (signal) => {
    const job = await readJob(of.id, signal);
    const scan = job.state === "finished" ? await readScan(of.id, signal) : null;
    return { job, scan };
  });
  useReloadUntil(found, ({ job }) => job.ended !== null, POLL);
  if (!found.value) return <Line of={of} error={found.error} />;
  const { job, scan } = found.value;
  return (
    <li>
      <span class="grow">
        <a href={href(`${of.path}/${of.id}`)}>{jobTitle(job, of.title)}</a>
        <small>
          {job.protein?.gene && `${job.protein.gene}, `}
          {job.protein?.organism && <i>{job.protein.organism}</i>}
          {job.protein && " · "}
          {formatMotifs(job)}
        </small>
      </span>
      {job.ended === null && <progress aria-label="Progress" max={1} value={job.fraction ?? undefined} />}
      {scan && <Thumbnail of={scan} />}
      <span class="end">
        {scan ? <ScanAnswer of={scan} /> : job.ended === null ? "running" : job.state}
        <small>{formatTime(of.time)}</small>
      </span>
    </li>
  );
}

const formatMotifs = ({ patterns }: Job): string =>
  patterns.length > NAMED
    ? pluralize(patterns.length, "motif")
    : patterns.map(({ name, expression }) => name ?? expression).join(", ");

function ScanAnswer({ of: { matches } }: { of: Scan }) {
  const best = VERDICT_ORDER.find((verdict) => matches.some((match) => findVerdict(match) === verdict));
  return <Answer best={best} count={matches.filter((match) => findVerdict(match) === best).length} />;
}

/** The number of matches with the best verdict that occurs. */
function Answer({ best, count }: { best: MatchVerdict | undefined; count: number }) {
  if (best === undefined) return <>no match</>;
  const isEvidence = best !== "no evidence" && best !== "not scored";
  return (
    <span class="row nowrap">
      <VerdictGlyph verdict={best} />
      <span>
        {isEvidence && <b>{formatCount(count)}</b>} {best.replace(" functional", "")}
      </span>
    </span>
  );
}

/** Stretches with a predicted disorder below 0.5, in per cent of the protein. */
function orderedStretches({ disorder, queryLength }: Scan): { x: number; width: number }[] {
  const starts = disorder.flatMap((value, i) => (value < 0.5 && !(disorder[i - 1] < 0.5) ? [i] : []));
  return starts.map((start) => {
    const end = disorder.findIndex((value, i) => i > start && value >= 0.5);
    const length = (end < 0 ? disorder.length : end) - start;
    return { x: (100 * start) / queryLength, width: (100 * length) / queryLength };
  });
}

/** The protein as a line, thicker where it is ordered, with its matches; the best ones in front. */
function Thumbnail({ of: scan }: { of: Scan }) {
  const matches = scan.matches
    .toReversed()
    .toSorted((a, b) => VERDICT_ORDER.indexOf(findVerdict(b)) - VERDICT_ORDER.indexOf(findVerdict(a)));
  return (
    <svg class="thumbnail" width="120" height="20" aria-hidden="true">
      <rect class="line" y="9" width="100%" height="2" />
      {orderedStretches(scan).map(({ x, width }) => (
        <rect key={x} class="ordered" x={`${x}%`} width={`${width}%`} y="7" height="6" rx="2" />
      ))}
      {matches.map((match) => (
        <rect
          key={match.number}
          class={`tone-${TONES[findVerdict(match)]}`}
          x={`${(100 * (match.start - 1)) / scan.queryLength}%`}
          width="4"
          y="2"
          height="16"
          rx="1.5"
        />
      ))}
    </svg>
  );
}
