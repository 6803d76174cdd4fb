import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { ChipChoice } from "../components/chip-choice.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead, Tag } from "../components/layout.tsx";
import { TaskProgress } from "../components/task-progress.tsx";
import { countOf, formatCount } from "../format.tsx";
import { useQuery, useTitle } from "../page.tsx";
import { call } from "../request.ts";
import { copyLink } from "../score/downloads.tsx";
import { showToast, withErrorToast } from "../components/toast.tsx";
import { download } from "../download.ts";
import { ColumnHelp, countKinds, Kept, VerdictChips, VerdictTag } from "../score/verdict.tsx";
import { type Batch, type BatchTask, motifParameters } from "./batch.ts";
import { HeatMap } from "./heat-map.tsx";
import { bestP, failuresOf, type Kind, isNamed, kindOf, KEYS, KINDS, type Row, rowsOf } from "./rows.ts";
import { BatchRun, type ReadItems } from "./run.ts";
import { sheetsOf, workbookOf } from "./spreadsheet.ts";
import { type Column, Table } from "../components/table.tsx";
import { ProteinCell } from "../score/protein-identity.tsx";
import { inOrder, sortable } from "../score/order.ts";
import { conservationName, decimal, pText, shorten, type Verdict } from "../score/result.ts";

/** More are folded up. */
const OPEN_FAILURES = 5;

/** A run of the batch; the component is drawn again at most every 100 ms. */
function useRun({ items }: Batch, read: ReadItems): BatchRun {
  const [, redraw] = useState(0);
  const isDue = useRef(false);
  const run = useMemo(
    () =>
      new BatchRun(items, read, () => {
        if (isDue.current) return;
        isDue.current = true;
        setTimeout(() => {
          isDue.current = false;
          redraw((times) => times + 1);
        }, 100);
      }),
    [items],
  );
  useEffect(() => {
    void withErrorToast(() => run.start());
    return () => run.stop();
  }, [run]);
  return run;
}

/** A batch: its progress, and a table that fills as results arrive. @param task null for one that the server does not have */
export function RunningBatch(props: { batch: Batch; read: ReadItems; task: BatchTask | null }) {
  const { batch, task } = props;
  const [query, setQuery] = useQuery();
  const { outcomes, items } = useRun(batch, props.read);
  const rows = rowsOf({ ...batch, items }, outcomes);
  const count = (kind: string): number => outcomes.filter((outcome) => outcome.kind === kind).length;
  const [done, failed] = [count("done"), count("failed")];
  const isOver = done + failed === outcomes.length;
  const proteins = countOf(new Set(items.map(({ name }) => name)).size, "protein");
  const motifs = motifParameters(batch.groups);
  const title = task?.title ?? `${proteins}, ${countOf(Object.values(motifs).flat().length, "motif")}`;
  useTitle(isOver ? title : `${Math.floor((100 * (done + failed)) / outcomes.length)} % · ${title}`);

  const view = query.get("view") === "heat-map" ? "heat-map" : "table";
  const [verdict, text] = [query.get("verdict") ?? "", (query.get("q") ?? "").toLowerCase()];
  const shown = rows.filter((row) => (verdict === "" || kindOf(row) === verdict) && isNamed(row, text));
  const tables = outcomes.flatMap((outcome) => (outcome.kind === "done" ? outcome.table : []));
  const save = (): void => {
    const body = tables.map((table, i) => (i === 0 ? table : table.slice(table.indexOf("\n") + 1)));
    download("batch.tsv", new Blob(body, { type: "text/tab-separated-values" }));
  };
  const saveWorkbook = (): Promise<void> =>
    withErrorToast(async () => {
      const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
      download("batch.xlsx", new Blob([await workbookOf(sheetsOf(rows, tables))], { type }));
      showToast("Saved batch.xlsx");
    });
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
            <Button icon="download" aria-label="Save as TSV" disabled={done === 0} onClick={save}>
              TSV
            </Button>
            <Button
              icon="download"
              aria-label="Save as XLSX"
              disabled={done + failed === 0}
              onClick={() => void saveWorkbook()}
            >
              XLSX
            </Button>
            <Button icon="copy" onClick={() => void copyLink()}>
              Copy link
            </Button>
            <LinkButton look="primary" icon="plus" href={href("/batch", motifs)}>
              New batch
            </LinkButton>
          </>
        }
      />
      <BatchProgress task={task} total={outcomes.length} done={done} failed={failed} />
      {task?.warnings.map((warning) => (
        <Banner key={warning} tone="warn">
          {warning}
        </Banner>
      ))}
      <Failures rows={rows} />
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
          placeholder="Protein, gene, species or motif"
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
        actions={<ViewChoice view={view} onChoose={(view) => setQuery({ view }, { replace: true })} />}
        foot={
          <ColumnHelp more={[["Expected", "The CS if the match changed as fast as its surroundings."]]} />
        }
      >
        {shown.length > 0 && view === "heat-map" ? (
          <HeatMap rows={shown} />
        ) : shown.length > 0 ? (
          <BatchTable
            rows={shown}
            order={query.get("sort") ?? ""}
            onOrder={(sort) => setQuery({ sort }, { replace: true })}
          />
        ) : (
          <Empty title="No rows match the filter">
            <Button onClick={() => setQuery({ verdict: null, q: null }, { replace: true })}>Show all</Button>
          </Empty>
        )}
      </Card>
    </div>
  );
}

/** Proteins that were not scored, each with the line of its list and the reason. */
function Failures({ rows }: { rows: readonly Row[] }) {
  const reasons = failuresOf(rows);
  if (reasons.length === 0) return null;
  return (
    <details class="note" open={reasons.length <= OPEN_FAILURES}>
      <summary>{countOf(reasons.length, "problem")}</summary>
      <ul class="bullets">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </details>
  );
}

type View = "table" | "heat-map";

const VIEWS: readonly (readonly [View, string])[] = [
  ["table", "Table"],
  ["heat-map", "Heat map"],
];

const ViewChoice = (props: { view: View; onChoose: (view: View | null) => void }) => (
  <div class="row" role="group" aria-label="View">
    <ChipChoice
      values={VIEWS}
      chosen={props.view}
      onChoose={(view) => props.onChoose(view === "table" ? null : view)}
    />
  </div>
);

/** Progress of the server, which may wait for room in its queue, then of the results that the page reads. */
function BatchProgress(props: { task: BatchTask | null; total: number; done: number; failed: number }) {
  const { task, total, done, failed } = props;
  const failures = failed > 0 ? `, ${failed} failed` : "";
  if (done + failed === total)
    return (
      <p role="status">
        {countOf(done, "job")} scored{failures}.
      </p>
    );
  const cancel = (id: string) => call("DELETE /api/scoring/batches/:id", { params: { id } });
  return (
    <TaskProgress
      name="Progress"
      message={task?.ended === null ? task.message : `${done} of ${countOf(total, "job")} read${failures}`}
      fraction={task?.ended === null ? task.fraction : (done + failed) / total}
      onCancel={task?.mayChange && task.ended === null ? () => cancel(task.id) : undefined}
      isShared={task !== null}
    />
  );
}

const NUMBER = { numeric: true, phone: "hide" } as const;
const numeric = (name: "score" | "expected" | "z", title: string): Column<Row> =>
  sortable(name, title, ({ summary }) => summary?.best && decimal(summary.best[name]), NUMBER);

const COLUMNS: readonly Column<Row>[] = [
  sortable("protein", "Protein", ({ protein, names }) => <ProteinCell identifier={protein} of={names} />, {
    heading: true,
  }),
  sortable("motif", "Motif", ({ motif }) => (
    <code class={motif.length > 24 ? undefined : "nowrap"}>{motif}</code>
  )),
  sortable("verdict", "Verdict", (row) => <RowState row={row} />, { phone: "end" }),
  sortable("p", "P", ({ summary }) => summary?.best && pText(bestP(summary.best)), NUMBER),
  { name: "match", title: "Best match", cell: (row) => <BestMatch row={row} /> },
  sortable("kept", "Kept in homologs", (row) => <BestKept row={row} />),
  numeric("score", "CS"),
  numeric("expected", "Expected"),
  numeric("z", "z"),
  sortable("matches", "Matches", ({ summary }) => summary?.matches, NUMBER),
];

export const BatchTable = (props: {
  rows: readonly Row[];
  order: string;
  onOrder: (order: string) => void;
}) => (
  <Table
    caption="Proteins and motifs"
    columns={COLUMNS}
    rows={inOrder(props.rows, props.order, (row, name) => KEYS[name]?.(row))}
    first={{ rows: 200, of: "rows" }}
    keyOf={({ key }) => key}
    order={props.order}
    onOrder={props.onOrder}
  />
);

function RowState({ row }: { row: Row }) {
  const { outcome } = row;
  if (outcome.kind === "failed") return <Tag tone="danger">failed</Tag>;
  if (outcome.kind === "unsent") return <span class="muted">not sent yet</span>;
  if (outcome.kind === "active")
    return <span class="muted">{outcome.state === "running" ? "running" : "waiting"}</span>;
  const kind = kindOf(row);
  return kind === "no match" ? <span class="muted">no match</span> : <VerdictTag verdict={kind as Verdict} />;
}

function BestMatch({ row: { job, protein, summary } }: { row: Row }) {
  if (job === null) return null;
  const match = summary?.best;
  return (
    <a href={href(`/score/${job}`, { match: match?.number })}>
      {match ? (
        <>
          <span class="nowrap">
            <code>{shorten(match.text, 16)}</code> <small>{match.start}</small>
          </span>
        </>
      ) : (
        "job"
      )}
      <span class="unseen">{` in ${protein}`}</span>
    </a>
  );
}

function BestKept({ row: { summary } }: { row: Row }) {
  if (!summary?.best) return null;
  const { kept, homologs, conservation, z } = summary.best;
  return <Kept kept={kept} of={homologs} words={conservationName({ verdict: conservation, z })} />;
}
