import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isMatch } from "../../scoring/table/match-row.ts";
import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { TABLE_FORMATS } from "../../scoring/table/table-formats.ts";
import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { ChipChoice } from "../components/segment.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { PageHead, Tag } from "../components/layout.tsx";
import { TaskProgress } from "../components/task-progress.tsx";
import { pluralize } from "../format.tsx";
import { useQuery, useTitle } from "../page.tsx";
import { call } from "../request.ts";
import { useLoaded } from "../components/loaded.tsx";
import { HowToCite } from "../score/how-to-cite.tsx";
import { copyLink } from "../score/downloads.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { countKinds, VerdictChips, VerdictTag } from "../score/verdict.tsx";
import { type BatchTask, type Item, motifParameters } from "./batch.ts";
import { HeatMap } from "./heat-map.tsx";
import { findMatch, listFailures, type Kind, isNamed, findKind, KINDS, type Row, makeRows } from "./rows.ts";
import { BatchRun } from "./run.ts";
import { ProteinCell } from "../score/protein-identity.tsx";
import type { PageColumn } from "../score/match-cells.tsx";
import { MatchTable } from "../score/match-table.tsx";
import { useMatchView } from "../score/match-view.ts";
import { shorten } from "../score/result.ts";

/** More are folded up. */
const OPEN_FAILURES = 5;

/** A run of the batch; the component is drawn again at most every 100 ms. */
function useRun(id: string, items: Item[]): BatchRun {
  const [, redraw] = useState(0);
  const isDue = useRef(false);
  const run = useMemo(
    () =>
      new BatchRun(id, items, () => {
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

/** A batch: its progress, and a table that fills as results arrive. */
export function RunningBatch({ task, items: first }: { task: BatchTask; items: Item[] }) {
  const [query, setQuery] = useQuery();
  const { outcomes, items } = useRun(task.id, first);
  const rows = makeRows({ groups: task.groups, items }, outcomes);
  const count = (kind: string): number => outcomes.filter((outcome) => outcome.kind === kind).length;
  const [done, failed] = [count("done"), count("failed")];
  const isOver = done + failed === outcomes.length;
  const motifs = motifParameters(task.groups);
  const { title } = task;
  useTitle(isOver ? title : `${Math.floor((100 * (done + failed)) / outcomes.length)} % · ${title}`);

  const view = query.get("view") === "heat-map" ? "heat-map" : "table";
  const text = (query.get("search") ?? "").toLowerCase();
  const named = rows.filter((row) => isNamed(row, text));
  const shown = useMatchView(MATCH_TABLES.batch, named);
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
            <AllMatches id={task.id} />
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
      {task.warnings.map((warning) => (
        <Banner key={warning} tone="warn">
          {warning}
        </Banner>
      ))}
      <Failures rows={rows} />
      <div class="answer">
        <VerdictChips<Kind>
          counts={countKinds(rows, KINDS, findKind)}
          chosen={query.get("verdict") ?? ""}
          onChoose={(kind) => setQuery({ verdict: kind }, { replace: true })}
        />
        <input
          class="input search screen"
          type="search"
          aria-label="Search"
          placeholder="Protein, gene, species or motif"
          value={query.get("search") ?? ""}
          onInput={(event) => setQuery({ search: event.currentTarget.value }, { replace: true })}
        />
      </div>
      <MatchTable
        table={MATCH_TABLES.batch}
        title="Results"
        caption="Proteins and motifs"
        view={shown}
        all={named}
        rowKey={({ key }) => key}
        first={200}
        closedFilters
        columns={COLUMNS}
        own={OWN_COLUMNS}
        actions={<ViewChoice view={view} onChoose={(view) => setQuery({ view }, { replace: true })} />}
        download={{
          path: matchesPath(task.id),
          query: { rows: "best", order: undefined },
          name: "batch-best",
        }}
      >
        {view === "heat-map" && <HeatMap rows={inBatchOrder(named, shown.rows)} />}
      </MatchTable>
      {isOver && <BatchCitation id={task.id} groups={task.groups} />}
    </div>
  );
}

/** How to cite a batch that has ended: then it is known with what it was scored. */
function BatchCitation({ id, groups }: Pick<BatchTask, "id" | "groups">) {
  const { value } = useLoaded(id, (signal) =>
    call("GET /api/scoring/batches/:id", { params: { id }, signal }),
  );
  return <HowToCite of={value?.provenance} motifs={groups.flat().flatMap(({ name }) => name ?? [])} />;
}

const matchesPath = (id: string): string => `/api/scoring/batches/${encodeURIComponent(id)}/matches`;

/** All matches of a batch as files. */
const AllMatches = ({ id }: { id: string }) => (
  <>
    {Object.entries(TABLE_FORMATS).map(([format, { title, extension }]) => (
      <LinkButton
        key={format}
        icon="download"
        aria-label={`All matches as ${title}`}
        href={href(matchesPath(id), { format })}
        download={`batch.${extension}`}
      >
        {title}
      </LinkButton>
    ))}
  </>
);

/** Proteins that were not scored, each with the line of its list and the reason. */
function Failures({ rows }: { rows: readonly Row[] }) {
  const reasons = listFailures(rows);
  if (reasons.length === 0) return null;
  return (
    <details class="note" open={reasons.length <= OPEN_FAILURES}>
      <summary>{pluralize(reasons.length, "problem")}</summary>
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
      choices={VIEWS}
      value={props.view}
      onChange={(view) => props.onChoose(view === "table" ? null : view)}
    />
  </div>
);

/** Progress of the server, which may wait for room in its queue, then of the results that the page reads. */
function BatchProgress(props: { task: BatchTask; total: number; done: number; failed: number }) {
  const { task, total, done, failed } = props;
  const failures = failed > 0 ? `, ${failed} failed` : "";
  if (done + failed === total)
    return (
      <p role="status">
        {pluralize(done, "job")} scored{failures}.
      </p>
    );
  const cancel = (id: string) => call("DELETE /api/scoring/batches/:id", { params: { id } });
  return (
    <TaskProgress
      name="Progress"
      message={task.ended === null ? task.message : `${done} of ${pluralize(total, "job")} read${failures}`}
      fraction={task.ended === null ? task.fraction : (done + failed) / total}
      onCancel={task.mayChange && task.ended === null ? () => cancel(task.id) : undefined}
      isShared
    />
  );
}

/** The shown rows with those of each protein together, as in the batch. */
function inBatchOrder(all: readonly Row[], shown: readonly Row[]): Row[] {
  const keys = new Set(shown.map(({ key }) => key));
  return all.filter(({ key }) => keys.has(key));
}

/** Columns that are shown by default. */
const COLUMNS = "query motif verdict z overall_p start kept cs expected matches".split(" ");

const OWN_COLUMNS: Readonly<Record<string, PageColumn<Row>>> = {
  query: {
    title: "Protein",
    cell: ({ query, protein }) => <ProteinCell identifier={query} of={protein ?? null} />,
  },
  motif: { cell: ({ motif }) => <code class={motif.length > 24 ? undefined : "nowrap"}>{motif}</code> },
  verdict: { cell: (row) => <RowState row={row} /> },
  start: { title: "Best match", cell: (row) => <BestMatch row={row} /> },
};

function RowState({ row }: { row: Row }) {
  if (isMatch(row)) return <VerdictTag match={row} />;
  return row.missing === "failed" ? (
    <Tag tone="danger">failed</Tag>
  ) : (
    <span class="muted">{row.missing}</span>
  );
}

function BestMatch({ row }: { row: Row }) {
  if (row.job === null) return null;
  const match = findMatch(row);
  return (
    <a href={href(`/score/${row.job}`, { match: match?.number })}>
      {match ? (
        <span class="nowrap">
          <code>{shorten(match.text, 16)}</code> <small>{match.start}</small>
        </span>
      ) : (
        "job"
      )}
      <span class="unseen">{` in ${row.query}`}</span>
    </a>
  );
}
