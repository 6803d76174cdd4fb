import { useEffect, useMemo, useState } from "preact/hooks";
import { href } from "../address.ts";
import { definePage, useParams, useQuery, useTitle } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Progress } from "../components/progress.tsx";
import { requestJson, get } from "../request.ts";
import type { Asked } from "../score/calls.ts";
import { Evidence } from "../score/evidence.tsx";
import { FamilyPicture } from "../score/family.tsx";
import { type Job, jobPath, useJob } from "../score/job.ts";
import { best, matchesOf, nameOf, type Result, VERDICTS } from "../score/result.ts";
import { Calls, Downloads } from "../score/same-result.tsx";
import { filtered, HomologTable, MatchTable, Meanings } from "../score/tables.tsx";
import { ProteinTrack, type Span } from "../score/track.tsx";
import { VerdictFilter } from "../score/verdict-filter.tsx";

function ResultPage() {
  const id = useParams().job ?? "";
  const { job, error } = useJob(id);
  const [result, setResult] = useState<Result | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const title = job?.identifier || (job ? "Result" : undefined);
  useTitle(title);
  const load = (): void => {
    setFailure(null);
    get<Result>(`${jobPath(id)}/result`).then(setResult, setFailure);
  };
  useEffect(() => {
    if (job?.state === "finished") load();
  }, [job?.state]);
  const problem = failure ?? error;
  return (
    <>
      <div class="heading">
        <h1>{title ?? "Result"}</h1>
        <div class="row screen">
          <Button onClick={() => void share()}>Copy link</Button>
          <LinkButton href={href("/score", { from: job?.state === "finished" ? id : undefined })}>
            {job?.state === "finished" ? "Change and score again" : "Score another"}
          </LinkButton>
        </div>
      </div>
      {problem !== null && <ErrorBanner error={problem} retry={load} />}
      {job && job.ended === null && <Going job={job} />}
      {job && ["failed", "cancelled", "expired"].includes(job.state) && <NoResult job={job} />}
      {job?.state === "finished" && !result && problem === null && <Progress label="Reading the result" />}
      {job && result && <Whole job={job} result={result} />}
    </>
  );
}

async function share(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    showToast("The link is copied. Whoever has it sees this result.");
  } catch {
    showToast("Copy the address of this page: whoever has it sees this result.");
  }
}

const STAGES = [
  { stage: "homologs", title: "Searching for homologs" },
  { stage: "tree", title: "Building the tree of the homologs" },
  { stage: "scores", title: "Scoring the matches" },
] as const;

/** A job on its way: which step, and how far. */
function Going({ job }: { job: Job }) {
  const cancel = async (): Promise<void> => {
    try {
      await requestJson("DELETE", jobPath(job.id));
    } catch (error) {
      showToast((error as Error).message, "error");
    }
  };
  const isStarting = job.stage === "start";
  const now = isStarting ? 0 : STAGES.findIndex(({ stage }) => stage === job.stage);
  return (
    <section class="card going" aria-label="Progress">
      <p role="status">
        {job.state === "queued"
          ? `Waiting: place ${job.place ?? 1} in the queue.`
          : `Step ${Math.max(now, 0) + 1} of 3.`}
      </p>
      <ol class="steps">
        {STAGES.map(({ stage, title }, i) => (
          <li key={stage} class={i < now ? "done" : i === now ? "now" : undefined}>
            {i === now ? (
              <Progress label={title} fraction={isStarting ? undefined : (job.fraction ?? 0)} />
            ) : (
              title
            )}
          </li>
        ))}
      </ol>
      <p class="hint">This page may be closed; its address leads back to the job.</p>
      <Button onClick={() => void cancel()}>Cancel</Button>
    </section>
  );
}

function NoResult({ job }: { job: Job }) {
  const title = {
    failed: "The job failed",
    cancelled: "The job was cancelled",
    expired: "The result is gone",
  }[job.state as "failed"];
  return (
    <Empty title={title}>
      {job.state !== "cancelled" && <p>{job.failure}</p>}
      <LinkButton look="primary" href={href("/score")}>
        Score again
      </LinkButton>
    </Empty>
  );
}

function Whole({ job, result }: { job: Job; result: Result }) {
  const [query, setQuery] = useQuery();
  const matches = useMemo(() => matchesOf(result), [result]);
  const filter = { verdict: query.get("verdict") ?? "", pattern: query.get("pattern") ?? "" };
  const order = query.get("sort") ?? "start";
  const shown = useMemo(
    () => filtered(matches, filter, order),
    [matches, filter.verdict, filter.pattern, order],
  );
  const asked = Number(query.get("match"));
  const match = matches.find(({ number }) => number === asked) ?? best(matches);
  const span = spanOf(query, result.queryLength);
  const select = (number: number): void => setQuery({ match: number });
  const fileName = (result.identifier || "protein").replace(/[^\w.-]+/g, "_").slice(0, 60);
  return (
    <div class="stack">
      <Summary result={result} />
      <ProteinTrack
        {...{ result, matches, span, fileName }}
        selected={match?.number}
        onSelect={select}
        onSpan={(wanted) => setQuery({ from: wanted?.from, to: wanted?.to }, { replace: true })}
      />
      {match ? (
        <>
          <section aria-labelledby="matches" class="stack matches">
            <div class="heading">
              <h2 id="matches">
                {shown.length === matches.length
                  ? `${matches.length} ${matches.length === 1 ? "match" : "matches"}`
                  : `${shown.length} of ${matches.length} matches`}
              </h2>
              <div class="filters screen">
                <VerdictFilter
                  choices={VERDICTS}
                  value={filter.verdict}
                  onChange={(verdict) => setQuery({ verdict }, { replace: true })}
                />
                {result.patterns.length > 1 && (
                  <label>
                    Pattern{" "}
                    <select
                      value={filter.pattern}
                      onChange={(event) =>
                        setQuery({ pattern: event.currentTarget.value }, { replace: true })
                      }
                    >
                      <option value="">all</option>
                      {result.patterns.map((pattern) => (
                        <option key={nameOf(pattern)}>{nameOf(pattern)}</option>
                      ))}
                    </select>
                  </label>
                )}
              </div>
            </div>
            {shown.length > 0 ? (
              <MatchTable
                matches={shown}
                order={order}
                onOrder={(sort) => setQuery({ sort }, { replace: true })}
                selected={match.number}
                addressOf={(number) =>
                  href(`/score/${job.id}`, { ...Object.fromEntries(query), match: number })
                }
                onSelect={select}
              />
            ) : (
              <Empty title="No match fits the filter">
                <Button onClick={() => setQuery({ verdict: null, pattern: null }, { replace: true })}>
                  Show all
                </Button>
              </Empty>
            )}
            <Meanings />
          </section>
          <Evidence match={match} />
          {result.homologs.length > 0 && (
            <>
              <FamilyPicture {...{ result, match, fileName }} />
              <HomologTable key={match.number} {...{ result, match }} />
            </>
          )}
        </>
      ) : (
        <Empty title="No pattern matches this protein">
          <p>The patterns in words are above. Perhaps one is too narrow, or stands for another protein.</p>
        </Empty>
      )}
      <div class="columns">
        <Downloads job={job.id} fileName={fileName} />
        {result.alignment && <Calls asked={askedOf(job, result, result.alignment.query)} />}
      </div>
    </div>
  );
}

function Summary({ result }: { result: Result }) {
  const { corpus, homologs, patterns } = result;
  const warnings = [result.warnings, ...patterns.map((pattern) => pattern.warnings)].flat();
  return (
    <>
      <p class="lead">
        {result.queryLength.toLocaleString("en")} residues, {homologs.length}{" "}
        {homologs.length === 1 ? "homolog" : "homologs"}
        {corpus && ` in ${corpus.name} (${corpus.sequences.toLocaleString("en")} proteins)`}; {result.model}{" "}
        model, method {result.method}.
      </p>
      <ul class="asked">
        {patterns.map((pattern, i) => (
          <li key={i}>
            <code>{nameOf(pattern)}</code>
            {pattern.name !== null && (
              <>
                {" "}
                <code class="muted">{pattern.expression}</code>
              </>
            )}
            : {pattern.explanation}
          </li>
        ))}
      </ul>
      {[...new Set(warnings)].map((warning) => (
        <p key={warning} class="note warn">
          {warning}
        </p>
      ))}
    </>
  );
}

function spanOf(query: URLSearchParams, length: number): Span {
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const isSpan = Number.isInteger(from) && Number.isInteger(to) && from >= 1 && to > from && to <= length;
  return isSpan ? { from, to } : { from: 1, to: Math.max(1, length) };
}

const askedOf = (job: Job, result: Result, sequence: string): Asked => ({
  identifier: result.identifier,
  sequence,
  model: result.model,
  patterns: job.patterns.flatMap(({ name, expression }) => (name === null ? expression : [])),
  motifClasses: job.patterns.flatMap(({ name }) => name ?? []),
});

export const resultPage = definePage({
  name: "result",
  paths: ["/score/:job"],
  title: "Result",
  View: ResultPage,
});
