import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { BatchTable, kindOf, KINDS, rowsOf } from "../batch/batch-table.tsx";
import {
  type Batch,
  forgetBatch,
  keepBatch,
  keptBatch,
  keptBatches,
  newBatch,
  packed,
  unpacked,
} from "../batch/batch.ts";
import { BatchRun } from "../batch/run.ts";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Progress } from "../components/progress.tsx";
import { draft, keepDraft } from "../score/draft.ts";
import { EXAMPLES } from "../score/examples.ts";
import type { Model } from "../score/job.ts";
import { ModelChoice, MotifsCard, useMotifChoice } from "../score/motif-choice.tsx";
import { download } from "../score/picture.tsx";
import { ProteinField } from "../score/protein-field.tsx";
import { NoCorpus } from "../score/no-corpus.tsx";
import { type Entry, readProtein } from "../score/protein-input.ts";
import { VerdictFilter } from "../score/verdict-filter.tsx";

function BatchPage() {
  const { id } = useParams();
  return id === undefined ? <NewBatch /> : <OpenBatch id={id} />;
}

function NewBatch() {
  const [query, setQuery] = useQuery();
  const [text, setText] = useState("");
  const motifs = useMotifChoice(query);
  const { classes } = motifs;
  const wanted = [...new Set(motifs.wanted)];
  const [model, setModel] = useState<Model>("continuous");
  const [error, setError] = useState<{ protein?: string; motifs?: string; storage?: string }>({});
  const understood = readProtein(text);
  const entries: readonly Entry[] = understood.kind === "proteins" ? understood.entries : [];
  useEffect(() => setText((shown) => shown || draft()), []);
  useEffect(() => {
    setQuery({ class: classes, pattern: wanted }, { replace: true });
  }, [classes.join(), wanted.join("\n")]);

  function begin(event: Event): void {
    event.preventDefault();
    if (entries.length === 0)
      return setError({ protein: "Paste sequences or accessions first, or drop a file." });
    if (count === 0) return setError({ motifs: "Choose motifs, or write a pattern below." });
    const batch = newBatch(entries, wanted, classes, model);
    if (!keepBatch(batch))
      return setError({
        storage:
          "This browser has no room for so many sequences. Divide them into several batches, or remove old ones below.",
      });
    keepDraft("");
    navigate(`/batch/${batch.id}`);
  }

  const count = classes.length + wanted.length;
  return (
    <>
      <h1>Score many proteins</h1>
      <p class="lead">
        Every motif in every protein. The table fills as results come, and goes on after a reload.
      </p>
      <NoCorpus />
      {text.trim() === "" && (
        <p>
          <Button
            onClick={() => {
              setText(EXAMPLES.map(({ name, sequence }) => `>${name}\n${sequence}`).join("\n"));
              motifs.setClasses(["MDM2-SWIB", "LxCxE", "Cyclin-RxL"]);
              setError({});
            }}
          >
            Try p53 and E7 with three motifs
          </Button>
        </p>
      )}
      <form class="columns wide-first" onSubmit={begin} noValidate>
        <section class="card" aria-labelledby="proteins">
          <h2 id="proteins">Proteins</h2>
          <ProteinField
            label="Sequences as FASTA, or accessions"
            hint="Paste them, or drop files here; files may be compressed with gzip."
            rows={14}
            value={text}
            understood={understood}
            onInput={(value) => {
              setText(value);
              keepDraft(value);
              setError({});
            }}
            errors={error.protein === undefined ? undefined : [error.protein]}
          />
          <ModelChoice value={model} onChange={setModel} />
        </section>
        <MotifsCard
          choice={motifs}
          errors={error.motifs === undefined ? {} : { motifClasses: [error.motifs] }}
        />
        <div class="submit">
          {error.storage !== undefined && (
            <p class="failure" role="alert">
              {error.storage}
            </p>
          )}
          <div class="row">
            <Button look="primary" type="submit">
              Score the batch
            </Button>
            <span class="muted" role="status">
              {entries.length > 0 && count > 0 && sizeOf(entries.length, count)}
            </span>
          </div>
        </div>
      </form>
      <Kept />
    </>
  );
}

const several = (count: number, word: string): string =>
  `${count.toLocaleString("en")} ${count === 1 ? word : `${word}s`}`;
const sizeOf = (proteins: number, motifs: number): string =>
  `${several(proteins, "protein")} × ${several(motifs, "motif")}: ${several(proteins * motifs, "row")}`;

function Kept() {
  const [batches, show] = useState<Batch[]>([]);
  useEffect(() => show(keptBatches()), []);
  if (batches.length === 0) return null;
  return (
    <section class="recent">
      <h2>Batches of this browser</h2>
      <ul>
        {batches.map(({ id, created, items, groups }) => (
          <li key={id}>
            <a href={href(`/batch/${id}`)}>
              {several(items.length / Math.max(1, groups.length), "protein")}
              {", "}
              {groups
                .flatMap(({ motifClasses, patterns }) => [...motifClasses, ...patterns])
                .slice(0, 4)
                .join(", ")}
            </a>{" "}
            <small>
              {new Date(created).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}
            </small>{" "}
            <Button
              look="quiet"
              aria-label={`Remove the batch of ${new Date(created).toLocaleString("en-GB")}`}
              onClick={() => {
                forgetBatch(id);
                show(keptBatches());
              }}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function OpenBatch({ id }: { id: string }) {
  const [batch, setBatch] = useState<Batch | null | undefined>(undefined);
  useEffect(() => {
    const find = async (): Promise<void> => {
      const found = keptBatch(id) ?? (await unpacked(location.hash.slice(1)));
      // One that came by a link is this browser's from now on.
      if (found) keepBatch(found);
      setBatch(found);
    };
    void find();
  }, [id]);
  return (
    <>
      {!batch && <h1>Batch</h1>}
      {batch === null && (
        <Empty title="This browser does not know the batch">
          <p>
            A batch is kept in the browser that began it. Ask for its link there: “Copy link” holds what this
            browser needs.
          </p>
          <LinkButton look="primary" href={href("/batch")}>
            Begin a batch
          </LinkButton>
        </Empty>
      )}
      {batch && <Running batch={batch} />}
    </>
  );
}

function Running({ batch }: { batch: Batch }) {
  const [query, setQuery] = useQuery();
  const [, redraw] = useState(0);
  const drawing = useRef(false);
  const run = useMemo(
    () =>
      new BatchRun(batch, () => {
        if (drawing.current) return;
        drawing.current = true;
        // Many jobs may end in one moment.
        setTimeout(() => {
          drawing.current = false;
          redraw((times) => times + 1);
        }, 100);
      }),
    [batch],
  );
  useEffect(() => {
    run.start();
    return () => run.stop();
  }, [run]);
  const { outcomes } = run;
  const rows = rowsOf(batch, outcomes);
  const count = (kind: string): number => outcomes.filter((outcome) => outcome.kind === kind).length;
  const [done, failed, unsent] = [count("done"), count("failed"), count("unsent")];
  const over = done + failed === outcomes.length;
  const proteins = batch.items.length / batch.groups.length;
  const title = `${several(proteins, "protein")}, ${several(rows.length / Math.max(1, proteins), "motif")}`;
  useTitle(over ? title : `${Math.floor((100 * (done + failed)) / outcomes.length)} % · ${title}`);

  const filter = { verdict: query.get("verdict") ?? "", text: query.get("q") ?? "" };
  const words = filter.text.toLowerCase();
  const shown = rows.filter(
    (row) =>
      (filter.verdict === "" || kindOf(row) === filter.verdict) &&
      (words === "" || `${row.protein} ${row.motif}`.toLowerCase().includes(words)),
  );
  const share = async (): Promise<void> => {
    history.replaceState(null, "", `${location.pathname}${location.search}#${await packed(batch)}`);
    try {
      await navigator.clipboard.writeText(location.href);
      showToast("The link is copied. Whoever has it sees these results.");
    } catch {
      showToast("Copy the address of this page: whoever has it sees these results.");
    }
  };
  const save = (): void => {
    const tables = outcomes.flatMap((outcome) => (outcome.kind === "done" ? outcome.text : []));
    const text = tables.map((table, i) => (i === 0 ? table : table.slice(table.indexOf("\n") + 1))).join("");
    download("batch.tsv", new Blob([text], { type: "text/tab-separated-values" }));
  };
  return (
    <div class="stack">
      <div class="heading">
        <h1>{title}</h1>
        <div class="row screen">
          {!over && <Button onClick={() => void run.cancel()}>Stop</Button>}
          <Button disabled={done === 0} onClick={save}>
            Save as TSV
          </Button>
          <Button disabled={unsent > 0} onClick={() => void share()}>
            Copy link
          </Button>
          <LinkButton
            href={href("/batch", {
              class: batch.groups.flatMap((group) => group.motifClasses),
              pattern: batch.groups.flatMap((group) => group.patterns),
            })}
          >
            Another batch
          </LinkButton>
        </div>
      </div>
      {over ? (
        <p role="status">
          {several(done, "job")} scored{failed > 0 && `, ${failed} failed`}.
        </p>
      ) : (
        <Progress
          label={`${done} of ${several(outcomes.length, "job")} scored${failed > 0 ? `, ${failed} failed` : ""}${unsent > 0 ? `, ${unsent} to be sent` : ""}`}
          fraction={(done + failed) / outcomes.length}
        />
      )}
      {run.waiting !== null && unsent > 0 && (
        <p class="note warn">{run.waiting} The rest is sent when there is room.</p>
      )}
      {!run.kept && (
        <p class="note warn">
          This browser’s storage is full: keep this page open, for a reload would not go on.
        </p>
      )}
      {unsent > 0 && run.kept && (
        <p class="hint screen">
          You may close this page once all is sent; opened again, it goes on where it was.
        </p>
      )}
      <div class="filters screen">
        <VerdictFilter
          choices={KINDS}
          value={filter.verdict}
          onChange={(verdict) => setQuery({ verdict }, { replace: true })}
        />
        <label>
          Find{" "}
          <input
            type="search"
            value={filter.text}
            placeholder="protein or motif"
            onInput={(event) => setQuery({ q: event.currentTarget.value }, { replace: true })}
          />
        </label>
        <span class="muted">
          {shown.length < rows.length &&
            `${shown.length.toLocaleString("en")} of ${several(rows.length, "row")}`}
        </span>
      </div>
      {shown.length > 0 ? (
        <BatchTable
          rows={shown}
          order={query.get("sort") ?? ""}
          onOrder={(sort) => setQuery({ sort }, { replace: true })}
        />
      ) : (
        <Empty title="No row fits the filter">
          <Button onClick={() => setQuery({ verdict: null, q: null }, { replace: true })}>Show all</Button>
        </Empty>
      )}
    </div>
  );
}

export const batchPage = definePage({
  name: "batch",
  paths: ["/batch", "/batch/:id"],
  title: "Batch",
  View: BatchPage,
});
