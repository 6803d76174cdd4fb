import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Progress } from "../components/progress.tsx";
import { countOf, formatCount } from "../format.tsx";
import { useQuery, useTitle } from "../page.tsx";
import { copyLink } from "../score/downloads.tsx";
import { download } from "../score/picture.tsx";
import { countKinds, VerdictChips } from "../score/verdict.tsx";
import { BatchTable, type Kind, KINDS, kindOf, rowsOf } from "./batch-table.tsx";
import { type Batch, packBatch } from "./batch.ts";
import { BatchRun } from "./run.ts";

/** A run of the batch; the component is drawn again at most every 100 ms. */
function useRun(batch: Batch): BatchRun {
  const [, redraw] = useState(0);
  const isDue = useRef(false);
  const run = useMemo(
    () =>
      new BatchRun(batch, () => {
        if (isDue.current) return;
        isDue.current = true;
        setTimeout(() => {
          isDue.current = false;
          redraw((times) => times + 1);
        }, 100);
      }),
    [batch],
  );
  useEffect(() => {
    run.start();
    return () => run.stop();
  }, [run]);
  return run;
}

/** A batch: its progress, and a table that fills as results arrive. */
export function RunningBatch({ batch }: { batch: Batch }) {
  const [query, setQuery] = useQuery();
  const run = useRun(batch);
  const { outcomes } = run;
  const rows = rowsOf(batch, outcomes);
  const count = (kind: string): number => outcomes.filter((outcome) => outcome.kind === kind).length;
  const [done, failed, unsent] = [count("done"), count("failed"), count("unsent")];
  const isOver = done + failed === outcomes.length;
  const proteins = batch.items.length / batch.groups.length;
  const title = `${countOf(proteins, "protein")}, ${countOf(rows.length / Math.max(1, proteins), "motif")}`;
  useTitle(isOver ? title : `${Math.floor((100 * (done + failed)) / outcomes.length)} % · ${title}`);

  const [verdict, text] = [query.get("verdict") ?? "", (query.get("q") ?? "").toLowerCase()];
  const shown = rows.filter(
    (row) =>
      (verdict === "" || kindOf(row) === verdict) &&
      `${row.protein} ${row.motif}`.toLowerCase().includes(text),
  );
  const share = async (): Promise<void> => {
    const address = `${location.pathname}${location.search}#${await packBatch(batch)}`;
    history.replaceState(null, "", address);
    await copyLink();
  };
  const save = (): void => {
    const tables = outcomes.flatMap((outcome) => (outcome.kind === "done" ? outcome.table : []));
    const body = tables.map((table, i) => (i === 0 ? table : table.slice(table.indexOf("\n") + 1)));
    download("batch.tsv", new Blob(body, { type: "text/tab-separated-values" }));
  };
  const motifs = {
    class: batch.groups.flatMap((group) => group.motifClasses),
    pattern: batch.groups.flatMap((group) => group.patterns),
  };
  return (
    <div class="stack">
      <PageHead
        title={title}
        crumbs={[
          { name: "Scoring", href: href("/score") },
          { name: "Batches", href: href("/batch") },
        ]}
        actions={
          <>
            {!isOver && <Button onClick={() => void run.cancel()}>Cancel</Button>}
            <Button icon="download" disabled={done === 0} onClick={save}>
              Save as TSV
            </Button>
            <Button icon="copy" disabled={unsent > 0} onClick={() => void share()}>
              Copy link
            </Button>
            <LinkButton look="primary" icon="plus" href={href("/batch", motifs)}>
              New batch
            </LinkButton>
          </>
        }
      />
      <BatchProgress run={run} done={done} failed={failed} unsent={unsent} />
      <div class="answer">
        <VerdictChips<Kind>
          counts={countKinds(rows, KINDS, kindOf)}
          chosen={verdict}
          onChoose={(kind) => setQuery({ verdict: kind }, { replace: true })}
        />
        <input
          class="input search screen"
          type="search"
          aria-label="Search"
          placeholder="Protein or motif"
          value={query.get("q") ?? ""}
          onInput={(event) => setQuery({ q: event.currentTarget.value }, { replace: true })}
        />
      </div>
      <Card
        title="Results"
        bare
        count={
          shown.length < rows.length
            ? `${formatCount(shown.length)} of ${countOf(rows.length, "row")}`
            : undefined
        }
      >
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
      </Card>
    </div>
  );
}

function BatchProgress(props: { run: BatchRun; done: number; failed: number; unsent: number }) {
  const { run, done, failed, unsent } = props;
  const total = run.outcomes.length;
  const failures = failed > 0 ? `, ${failed} failed` : "";
  if (done + failed === total)
    return (
      <p role="status">
        {countOf(done, "job")} scored{failures}.
      </p>
    );
  const waiting = unsent > 0 ? `, ${unsent} not sent yet` : "";
  return (
    <>
      <Progress
        label={`${done} of ${countOf(total, "job")} scored${failures}${waiting}`}
        fraction={(done + failed) / total}
      />
      {run.waiting !== null && unsent > 0 && (
        <Banner tone="warn">{run.waiting} The rest is sent when there is room.</Banner>
      )}
      {!run.isStored && (
        <Banner tone="warn">
          This browser's storage is full. Keep this page open until all jobs have ended.
        </Banner>
      )}
    </>
  );
}
