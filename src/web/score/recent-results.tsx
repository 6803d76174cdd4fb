import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { findVerdict, type MatchVerdict } from "../../scoring/table/verdict.ts";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Checkbox } from "../components/field.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded, useReloadUntil } from "../components/loaded.tsx";
import { pluralize, formatCount, Time } from "../format.tsx";
import { type Answer, ApiError, call } from "../request.ts";
import { useSession } from "../session.ts";
import { type Job, readJob } from "./job.ts";
import { jobTitle, proteinHref } from "./protein-identity.tsx";
import { isOver, searchTitle } from "./proteome.ts";
import { TONES, VERDICT_ORDER } from "./result.ts";
import { type Scan, readScan } from "./scan.ts";
import { VerdictGlyph } from "./verdict.tsx";

/** Milliseconds between two checks of a running job. */
const POLL = 2000;
/** Motifs that are named; more are counted. */
const NAMED = 3;
/** Results that are read at once. */
const PAGE = 20;
const MAX_LISTED = 1000;

type Task = Answer<"GET /api/tasks/">["results"][number];
/** A kind of results, as the server names it. */
export type ResultKind = "job" | "batch" | "proteome-search";
const KINDS: readonly ResultKind[] = ["job", "batch", "proteome-search"];

/** The caller's results, the newest first; for administrators also those of all. */
export function ResultList(props: {
  title: string;
  kinds?: readonly ResultKind[];
  /** Number of results, with a link to all; without it all can be shown. */
  shown?: number;
  /** Only searches for a motif with one of these names. */
  about?: readonly string[];
}) {
  const { title, kinds = KINDS, shown, about } = props;
  const isAdministrator = useSession()?.user.is_superuser === true;
  const [owner, setOwner] = useState<"me" | "all">("me");
  const [limit, setLimit] = useState(about ? MAX_LISTED : (shown ?? PAGE));
  const loaded = useLoaded([kinds, owner, limit].join(" "), (signal) =>
    call("GET /api/tasks/", { query: { kind: kinds.join(","), owner, limit }, signal }),
  );
  return (
    <Card
      title={title}
      bare
      actions={
        shown === undefined ? (
          isAdministrator && (
            <Checkbox
              label="Of all users"
              checked={owner === "all"}
              onChange={(on) => setOwner(on ? "all" : "me")}
            />
          )
        ) : (
          <LinkButton
            look="quiet"
            small
            href={href("/results", { kind: kinds.length === 1 ? kinds[0] : null })}
          >
            All results
          </LinkButton>
        )
      }
      foot={
        shown === undefined &&
        loaded.value?.results.length === limit &&
        limit < MAX_LISTED && (
          <Button look="quiet" small busy={loaded.busy} onClick={() => setLimit(limit + PAGE)}>
            Show more
          </Button>
        )
      }
    >
      <Loaded of={loaded}>
        {({ results: all }) => {
          const results = about ? all.filter(({ subject }) => isAbout(subject, about)).slice(0, shown) : all;
          return (
            <ul class="list results">
              {results.length === 0 && <li class="muted">Your results appear here.</li>}
              {results.map((task) => (
                <ResultItem key={task.id} of={task} />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}

/** The subject of a search begins with its motif. */
const isAbout = (subject: string, names: readonly string[]): boolean =>
  names.some((name) => subject === name || subject.startsWith(`${name} in `));

function ResultItem({ of }: { of: Task }) {
  if (of.kind === "proteome-search") return <ProteomeResult of={of} />;
  if (of.kind === "batch") return <Line of={of} path="/batch" />;
  return of.state === "expired" ? <Line of={of} path="/score" /> : <Result of={of} />;
}

/** An item of a list of results. `fraction`: the share that is done, null if it is not known, undefined after the end. */
export const ResultRow = (props: {
  path: string;
  title: string;
  facts: ComponentChildren;
  at: string;
  fraction?: number | null | undefined;
  picture?: ComponentChildren;
  answer?: ComponentChildren;
}) => (
  <li>
    <span class="grow">
      <a href={href(props.path)}>{props.title}</a>
      {props.facts && <small>{props.facts}</small>}
    </span>
    {props.fraction !== undefined && (
      <progress aria-label="Progress" max={1} value={props.fraction ?? undefined} />
    )}
    {props.picture}
    <span class="end">
      {props.answer}
      <small>
        <Time at={props.at} />
      </small>
    </span>
  </li>
);

/** A result with only its title: a batch, or one that is not loaded yet or that the server has no more. */
const Line = ({ of, path, error }: { of: Task; path: string; error?: unknown }) => (
  <ResultRow
    path={`${path}/${of.id}`}
    at={of.created}
    title={of.subject || "Protein"}
    facts={of.kind === "batch" && of.message}
    fraction={of.ended === null ? (of.fraction ?? null) : undefined}
    answer={
      error instanceof ApiError
        ? error.status === 404
          ? "no longer kept"
          : "not available"
        : STATES[of.state]
    }
  />
);

const STATES: Readonly<Record<Task["state"], string>> = {
  queued: "waiting",
  running: "running",
  finished: "",
  failed: "failed",
  cancelled: "cancelled",
  expired: "no longer kept",
};

/** A search of many proteins: its progress, then the number of matches with the best verdict. */
function ProteomeResult({ of }: { of: Task }) {
  const found = useLoaded(of.id, (signal) =>
    call("GET /api/scoring/proteome/searches/:id", { params: { id: of.id }, query: { limit: 1 }, signal }),
  );
  useReloadUntil(found, isOver, POLL);
  if (!found.value) return <Line of={of} path="/proteome" error={found.error} />;
  const { state, searched, total, labels, matches, matching } = found.value;
  const isRunning = !isOver(found.value);
  const best = VERDICT_ORDER.find((verdict) =>
    labels.some(({ value, count }) => value === verdict && count > 0),
  );
  return (
    <ResultRow
      path={`/proteome/${of.id}`}
      at={of.created}
      title={searchTitle(found.value)}
      facts={
        isRunning
          ? `${formatCount(searched)} of ${pluralize(total, "protein")} searched`
          : `${pluralize(matches, "match", "matches")} in ${pluralize(matching, "protein")}`
      }
      fraction={isRunning ? (total > 0 ? searched / total : null) : undefined}
      answer={
        state === "finished" ? (
          <Answer best={best} count={labels.find(({ value }) => value === best)?.count ?? 0} />
        ) : (
          state
        )
      }
    />
  );
}

/** A protein that was scored: its matches along it, and the best verdict. */
function Result({ of }: { of: Task }) {
  const found = useLoaded(of.id, async (signal) => {
    const job = await readJob(of.id, signal);
    const scan = job.state === "finished" ? await readScan(of.id, signal) : null;
    return { job, scan };
  });
  useReloadUntil(found, ({ job }) => job.ended !== null, POLL);
  if (!found.value) return <Line of={of} path="/score" error={found.error} />;
  const { job, scan } = found.value;
  return (
    <ResultRow
      path={`/${isScan(job) ? "scan" : "score"}/${of.id}`}
      at={of.created}
      title={jobTitle(job, "Protein")}
      facts={
        <>
          {job.protein && (
            <>
              <a href={proteinHref(job.protein)}>{job.protein.gene ?? job.protein.accession}</a>
              {job.protein.organism && ", "}
            </>
          )}
          {job.protein?.organism && <i>{job.protein.organism}</i>}
          {job.protein && " · "}
          {formatMotifs(job)}
        </>
      }
      fraction={job.ended === null ? (job.fraction ?? null) : undefined}
      picture={scan && <Thumbnail of={scan} />}
      answer={scan ? <ScanAnswer of={scan} /> : job.ended === null ? "running" : job.state}
    />
  );
}

/** Motif classes from which on a job is a scan of a protein. */
export const SCANNED = 10;
const isScan = ({ patterns }: Job): boolean =>
  patterns.length >= SCANNED && patterns.every(({ name }) => name !== null);

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
        {isEvidence && <b>{formatCount(count)}</b>} {best.replace(/ functional| instance/, "")}
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
