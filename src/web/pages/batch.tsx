import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import {
  type Batch,
  forgetBatch,
  newBatch,
  storeBatch,
  storedBatch,
  storedBatches,
  unpackBatch,
} from "../batch/batch.ts";
import { RunningBatch } from "../batch/running-batch.tsx";
import { Button, IconButton, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { useSubmission } from "../components/form.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { countOf, formatTime } from "../format.tsx";
import { definePage, navigate, useParams, useQuery } from "../page.tsx";
import { EXAMPLES } from "../score/examples.ts";
import { proteinDraft } from "../score/job.ts";
import { refuse, ScoreForm, useScoreInput } from "../score/score-form.tsx";

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
    const batch = newBatch(entries, filled, classes, model);
    if (!storeBatch(batch))
      refuse("", "This browser's storage is full. Remove old batches below, or enter fewer sequences.");
    proteinDraft.keep("");
    navigate(`/batch/${batch.id}`);
    return true;
  });
  const takeExamples = (): void => {
    setText(EXAMPLES.map(({ name, sequence }) => `>${name}\n${sequence}`).join("\n"));
    setClasses(["MDM2-SWIB", "LxCxE", "Cyclin-RxL"]);
  };
  const size = `${countOf(entries.length, "protein")} × ${countOf(count, "motif")}`;
  return (
    <ScoreForm
      {...{ of, form }}
      title="Score many proteins"
      lead="Every motif in every protein. Results appear as they are ready. You can reload the page."
      actions={text.trim() === "" && <Button onClick={takeExamples}>Try p53 and E7 with three motifs</Button>}
      protein={{
        title: "Proteins",
        label: "Sequences as FASTA, or accessions",
        hint: "Paste them, or drop files here, also compressed with gzip.",
        rows: 14,
        many: true,
      }}
      submit="Score the batch"
      status={entries.length * count > 0 && `${size}: ${countOf(entries.length * count, "row")}`}
    >
      <StoredBatches />
    </ScoreForm>
  );
}

function StoredBatches() {
  const [batches, setBatches] = useState<Batch[]>([]);
  useEffect(() => setBatches(storedBatches()), []);
  if (batches.length === 0) return null;
  return (
    <Card title="Batches of this browser" bare>
      <ul class="list">
        {batches.map(({ id, created, items, groups }) => (
          <li key={id}>
            <a href={href(`/batch/${id}`)}>
              {countOf(items.length / groups.length, "protein")},{" "}
              {groups
                .flatMap(({ motifClasses, patterns }) => [...motifClasses, ...patterns])
                .slice(0, 4)
                .join(", ")}
            </a>
            <small>{formatTime(created)}</small>
            <IconButton
              icon="trash-2"
              label={`Remove the batch of ${formatTime(created)}`}
              onClick={() => {
                forgetBatch(id);
                setBatches(storedBatches());
              }}
            />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function OpenBatch({ id }: { id: string }) {
  const [batch, setBatch] = useState<Batch | null | undefined>(undefined);
  useEffect(() => {
    const find = async (): Promise<void> => {
      const found = storedBatch(id) ?? (await unpackBatch(location.hash.slice(1)));
      if (found) storeBatch(found);
      setBatch(found);
    };
    void find();
  }, [id]);
  if (batch) return <RunningBatch batch={batch} />;
  return (
    <>
      <PageHead title="Batch" crumbs={[{ name: "Scoring", href: href("/score") }]} />
      {batch === null && (
        <Empty title="This browser does not have the batch">
          <p>
            A batch is stored in the browser that started it. “Copy link” there creates a link that works
            here.
          </p>
          <LinkButton href={href("/batch")}>Start a batch</LinkButton>
        </Empty>
      )}
    </>
  );
}

export const batchPage = definePage({
  name: "batch",
  paths: ["/batch", "/batch/:id"],
  title: "Batch",
  View: BatchPage,
});
