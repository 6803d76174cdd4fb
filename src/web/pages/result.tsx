import { useMemo } from "preact/hooks";
import { isMatch } from "../../scoring/table/match-row.ts";
import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { findVerdict } from "../../scoring/table/verdict.ts";
import { resultRows } from "../../scoring/table/rows.ts";
import { href } from "../address.ts";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize, Time } from "../format.tsx";
import { definePage, useParams, useQuery, useTitle } from "../page.tsx";
import { CompareWith } from "../score/compare-with.tsx";
import { CladeView } from "../score/clade-view.tsx";
import { Alignment } from "../score/alignment.tsx";
import { copyLink, Downloads, ProgramCalls } from "../score/downloads.tsx";
import { useFeatures } from "../score/features.ts";
import { HomologTable } from "../score/homolog-table.tsx";
import { citedIn, HowToCite } from "../score/how-to-cite.tsx";
import { type Job, useJob } from "../score/job.ts";
import { JobProgress, NoResult } from "../score/job-progress.tsx";
import { KnownCard } from "../score/known-card.tsx";
import { MatchPanel } from "../score/match-panel.tsx";
import { useMatchView } from "../score/match-view.ts";
import { ResultMatches } from "../score/result-matches.tsx";
import { answer, best, listMatches, type Result, VERDICT_ORDER, readResult } from "../score/result.ts";
import { ProteinIdentity, jobTitle } from "../score/protein-identity.tsx";
import { alignmentText } from "../score/alignment-field.tsx";
import { makeRequest, ScoreAgainDialog } from "../score/score-again.tsx";
import { PositionProvider, usePosition } from "../score/position.ts";
import { centred, contains, countResidues, parseSpan, type Span } from "../score/track-geometry.ts";
import { modelOfJob, readPLddt, Structure, useStructure } from "../score/structure.tsx";
import { QueryWarning } from "../score/query-warning.tsx";
import { ProteinTracks } from "../score/tracks.tsx";
import { Variants } from "../score/variants.tsx";
import { WatchButton } from "../score/watch-button.tsx";
import { countKinds, VerdictChips } from "../score/verdict.tsx";

function ResultPage() {
  const id = useParams().job ?? "";
  const { job, error } = useJob(id);
  const isFinished = job?.state === "finished";
  const result = useLoaded(isFinished ? id : null, (signal) => readResult(id, signal));
  const title = jobTitle(job, "Result");
  useTitle(job ? title : undefined);
  return (
    <>
      <PageHead
        title={title}
        crumbs={[{ name: "Scoring", href: href("/score") }]}
        actions={
          <>
            <Button icon="copy" onClick={() => void copyLink()}>
              Copy link
            </Button>
            {job && <JobLinks job={job} />}
            <LinkButton
              look="primary"
              icon="pencil"
              href={href("/score", { from: isFinished ? id : undefined })}
            >
              {isFinished ? "Edit and score again" : "Score another protein"}
            </LinkButton>
          </>
        }
      >
        <ProteinIdentity of={job?.protein} />
        {result.value && <Facts result={result.value} job={job!} />}
      </PageHead>
      {error !== null && <ErrorBanner error={error} />}
      {isFinished ? (
        <Loaded of={result}>
          {(value) =>
            isComplete(value) ? (
              <ResultView job={job} result={value} />
            ) : (
              <EarlierResult job={job} fileName={makeFileName(value)} />
            )
          }
        </Loaded>
      ) : (
        job && (job.ended === null ? <JobProgress job={job} /> : <NoResult job={job} />)
      )}
    </>
  );
}

/** Leads to the comparison with the result that was scored again, and to the matches of several motifs as one list. */
function JobLinks({ job }: { job: Job }) {
  const { id, state, patterns } = job;
  const [query] = useQuery();
  const first = query.get("first");
  if (state !== "finished") return null;
  return (
    <>
      <WatchButton job={job} />
      {first !== null && first !== id && (
        <LinkButton icon="arrow-left-right" href={href("/score/compare", { a: first, b: id })}>
          Compare with the first
        </LinkButton>
      )}
      <CompareWith job={id} />
      {patterns.length > 1 && (
        <LinkButton icon="scan-search" href={href(`/scan/${id}`)}>
          Rank all matches
        </LinkButton>
      )}
    </>
  );
}

function Facts({ result, job }: { result: Result; job: Job }) {
  const { queryLength, homologs, corpus, model, method } = result;
  const source = corpus
    ? ` from ${corpus.name} (${pluralize(corpus.sequences, "protein")})`
    : " from your own alignment";
  return (
    <>
      {job.variant !== null && `Variant ${job.variant}, scored with the homologs of the unchanged protein. `}
      {pluralize(queryLength, "residue")}, {pluralize(homologs.length, "homolog")}
      {source}. Method {method}, {model} model. Scored on <Time at={job.ended} />.
    </>
  );
}

/** Results of earlier versions lack verdicts, which the page is about. */
const isComplete = ({ alignment }: Result): boolean => alignment?.order !== undefined;

/** True for a method before labd-4, which had no probability. */
const isByEarlierMethod = ({ patterns }: Result): boolean =>
  patterns.some(({ matches }) =>
    matches.some(({ z, probability }) => z !== null && probability === undefined),
  );

const EarlierMethod = ({ result, job }: { result: Result; job: Job }) => (
  <Banner tone="warn">
    {result.method} is an earlier method, whose P values are less exact.{" "}
    <a href={href("/score", { from: job.id })}>Score again</a>
  </Banner>
);

const EarlierResult = ({ job, fileName }: { job: Job; fileName: string }) => (
  <div class="stack">
    <Empty title="This result was scored by an earlier version">
      <p>It has no verdicts. Score the protein again to see them.</p>
      <LinkButton href={href("/score", { from: job.id })}>Score again</LinkButton>
    </Empty>
    <Downloads job={job.id} fileName={fileName} />
  </div>
);

const makeFileName = ({ identifier }: Result): string =>
  (identifier || "protein").replace(/[^\w.-]+/g, "_").slice(0, 60);

function ResultView({ job, result }: { job: Job; result: Result }) {
  const [query, setQuery] = useQuery();
  const known = useFeatures(job.id).value;
  const matches = useMemo(() => listMatches(result, known?.notes), [result, known]);
  const rows = useMemo(
    () => resultRows({ ...result, prediction: result, notes: known?.notes }, () => null).filter(isMatch),
    [result, known],
  );
  const view = useMatchView(MATCH_TABLES.result, rows);
  const asked = Number(query.get("match"));
  const match = matches.find(({ number }) => number === asked) ?? best(matches);
  const span = parseSpan(query, result.queryLength);
  /** The tracks move to a part that they do not show. */
  const show = (part: Span): Span | object =>
    contains(span, part) ? {} : centred(part, countResidues(span), result.queryLength);
  const select = (number: number): void => {
    const { start: from, end: to } = matches[number - 1];
    setQuery({ match: number, ...show({ from, to }) });
  };
  const position = usePosition(result.queryLength, (residue, isAtMatch) => {
    const here = matches.filter(({ start, end }) => start <= residue && residue <= end);
    const isChosen = isAtMatch || here.length === 0 || here.includes(match!);
    return { ...show({ from: residue, to: residue }), ...(!isChosen && { match: best(here)!.number }) };
  });
  const at = view.rows.findIndex(({ number }) => number === match?.number);
  /** Selects the match before or after; undefined at the ends. */
  const selects = (step: number): (() => void) | undefined => {
    const next = at < 0 ? undefined : view.rows[at + step];
    return next && (() => select(next.number!));
  };
  const source = modelOfJob(job.id);
  const structure = useStructure(source);
  const fileName = makeFileName(result);
  const warnings = new Set([result.warnings, ...result.patterns.map((pattern) => pattern.warnings)].flat());
  return (
    <PositionProvider value={position}>
      <div class="stack">
        {isByEarlierMethod(result) && <EarlierMethod {...{ result, job }} />}
        {[...warnings].map((warning) => (
          <QueryWarning key={warning} text={warning} address={scoreAddress(result)} />
        ))}
        {match ? (
          <div class="answer">
            <p>{answer(matches)}</p>
            <VerdictChips
              counts={countKinds(matches, VERDICT_ORDER, findVerdict)}
              chosen={query.get("verdict") ?? ""}
              onChoose={(verdict) => setQuery({ verdict }, { replace: true })}
            />
          </div>
        ) : (
          <Empty title="No pattern matches this protein">
            <p>A pattern may be too specific, or intended for another protein.</p>
          </Empty>
        )}
        <ProteinTracks
          {...{ result, matches, fileName, span }}
          known={known?.features}
          pLddt={readPLddt(structure)}
          selected={match}
          onSelect={select}
          onSpan={(span) => setQuery({ from: span?.from, to: span?.to }, { replace: true })}
        />
        {match && (
          <div class="with-panel">
            <ResultMatches {...{ job: job.id, fileName, view, select }} all={rows} selected={match.number} />
            <MatchPanel {...{ result, match }} onPrevious={selects(-1)} onNext={selects(1)} />
            <KnownCard {...{ known, match }} />
            {match.homologs > 0 && <CladeView key={match.number} {...{ result, match }} />}
          </div>
        )}
        <Variants job={job} />
        {match && result.homologs.length > 0 && (
          <>
            <Alignment {...{ result, match, fileName }} />
            <HomologTable key={match.number} {...{ result, match }} />
          </>
        )}
        <Structure
          of={structure}
          {...{ source, match }}
          mayChange={job.mayChange}
          conservation={result.alignment.conservation}
        />
        {result.homologs.length > 0 && job.variant === null && <ScoreAgainDialog {...{ job, result }} />}
        <HowToCite of={citedIn(result)} motifs={result.patterns.flatMap(({ name }) => name ?? [])} />
        <div class="stack screen">
          <Downloads job={job.id} fileName={fileName} />
          {job.variant === null && <ProgramCalls request={makeCall(job, result)} job={job.id} />}
        </div>
      </div>
    </PositionProvider>
  );
}

/** The page that scores a protein for the motifs of a result. */
const scoreAddress =
  ({ patterns }: Result) =>
  (protein: string): string =>
    href("/score", {
      protein,
      class: patterns.flatMap(({ name }) => name ?? []),
      pattern: patterns.flatMap(({ name, expression }) => (name === null ? expression : [])),
    });

const makeCall = (job: Job, result: Result) => ({
  ...makeRequest(job, result),
  ...(job.hasOwnAlignment
    ? { alignment: alignmentText(result) }
    : { querySequence: result.alignment.query, ...(job.homologs && { homologs: job.homologs }) }),
});

export const resultPage = definePage({
  name: "result",
  paths: ["/score/:job"],
  title: "Result",
  View: ResultPage,
});
