import { useEffect } from "preact/hooks";
import { href } from "../address.ts";
import type { BatchTask, Item } from "../batch/batch.ts";
import { readItems } from "../batch/run.ts";
import { RunningBatch } from "../batch/running-batch.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { useFollowed } from "../components/follow.ts";
import { useSubmission } from "../components/form.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize } from "../format.tsx";
import { definePage, navigate, useParams, useQuery } from "../page.tsx";
import { ApiError, call } from "../request.ts";
import { ResultList } from "../score/recent-results.tsx";
import { EXAMPLES } from "../score/examples.ts";
import { proteinDraft } from "../score/job.ts";
import { ScoreForm, useScoreInput } from "../score/score-form.tsx";

function BatchPage() {
  const { id } = useParams();
  return id === undefined ? <NewBatch /> : <OpenBatch id={id} />;
}

function NewBatch() {
  const [query, setQuery] = useQuery();
  const of = useScoreInput(query);
  const { text, setText, entries, classes, setClasses, filled, model } = of;
  const count = classes.length + filled.length;
  useEffect(() => setText((shown) => shown || proteinDraft.read()), []);
  useEffect(() => {
    setQuery({ class: classes, pattern: filled }, { replace: true });
  }, [classes.join(), filled.join("\n")]);
  useEffect(() => {
    if (text !== "") proteinDraft.keep(text);
  }, [text]);
  const form = useSubmission(async () => {
    of.requireInput("Paste sequences or accessions, or drop a file.");
    const proteins = entries.map(({ name, sequence, line }) => ({
      ...(sequence === null ? { accession: name } : { querySequence: sequence }),
      ...(sequence !== null && name !== "" && { identifier: name }),
      ...(line !== undefined && { line }),
    }));
    const motifs = { patterns: filled, motifClasses: [...classes], scoringModel: model };
    const body = { proteins, ...motifs, ...of.evidence };
    const batch = await call("POST /api/scoring/batches", { body });
    proteinDraft.keep("");
    navigate(`/batch/${batch.id}`);
    return true;
  });
  const takeExamples = (): void => {
    setText(EXAMPLES.map(({ name, sequence }) => `>${name}\n${sequence}`).join("\n"));
    setClasses(["MDM2-SWIB", "LxCxE", "Cyclin-RxL"]);
  };
  const size = `${pluralize(entries.length, "protein")} × ${pluralize(count, "motif")}`;
  return (
    <ScoreForm
      {...{ of, form }}
      title="Score many proteins"
      lead="Every motif in every protein. Results appear as they are ready. You can close the page."
      actions={text.trim() === "" && <Button onClick={takeExamples}>Try p53 and E7 with three motifs</Button>}
      protein={{
        title: "Proteins",
        label: "Sequences as FASTA, or accessions",
        hint: "Paste them, or drop files here, also compressed with gzip.",
        rows: 14,
        many: true,
      }}
      submit="Score the batch"
      status={entries.length * count > 0 && `${size}: ${pluralize(entries.length * count, "row")}`}
    >
      <ResultList title="Recent batches" kinds={["batch"]} shown={20} />
    </ScoreForm>
  );
}

function OpenBatch({ id }: { id: string }) {
  const { value: task, error } = useFollowed(id, {
    load: (signal) => call("GET /api/tasks/:id", { params: { id }, signal }),
    events: `/api/tasks/${id}/events`,
    hasEnded: ({ ended }) => ended !== null,
  });
  const loaded = useLoaded(id, async (signal): Promise<{ batch: BatchTask; items: Item[] }> => {
    const batch = await call("GET /api/scoring/batches/:id", { params: { id }, signal });
    const items: Item[] = [];
    while (items.length < batch.jobs.total) items.push(...(await readItems(id, items.length)));
    return { batch, items };
  });
  if (loaded.error instanceof ApiError && loaded.error.status === 404) return <NoBatch />;
  return (
    <>
      {!loaded.value && <BatchHead />}
      <Loaded of={{ ...loaded, error: loaded.error ?? error ?? undefined }}>
        {({ batch, items }) => (
          <RunningBatch
            items={items}
            task={{
              ...batch,
              ...(task && { message: task.message, fraction: task.fraction ?? 0, ended: task.ended }),
            }}
          />
        )}
      </Loaded>
    </>
  );
}

const BatchHead = () => <PageHead title="Batch" crumbs={[{ name: "Scoring", href: href("/score") }]} />;

const NoBatch = () => (
  <>
    <BatchHead />
    <Empty title="There is no such batch">
      <p>It may have expired, or the link is incomplete.</p>
      <LinkButton href={href("/batch")}>Start a batch</LinkButton>
    </Empty>
  </>
);

export const batchPage = definePage({
  name: "batch",
  paths: ["/batch", "/batch/:id"],
  title: "Batch",
  View: BatchPage,
});
