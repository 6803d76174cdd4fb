import type { MatchRow } from "../../scoring/table/match-row.ts";
import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { useQuery } from "../page.tsx";
import { MatchTable } from "./match-table.tsx";
import type { MatchView } from "./match-view.ts";
import { jobPath } from "./job.ts";
import { shorten } from "./result.ts";
import { onPlainClick } from "../components/plain-click.ts";

/** Columns that are shown by default. */
const COLUMNS = ["start", "verdict", "kept", "overall_p"];

/** All matches of a result; the residues of a row are a link to its match. */
export function ResultMatches(props: {
  job: string;
  fileName: string;
  view: MatchView<MatchRow>;
  all: readonly MatchRow[];
  /** Number of the selected match. */
  selected: number;
  select: (number: number) => void;
}) {
  const [query] = useQuery();
  const { job, fileName, view, all, selected, select } = props;
  return (
    <MatchTable
      table={MATCH_TABLES.result}
      title="Matches"
      caption="Matches"
      {...{ view, all, selected }}
      rowKey={({ number }) => number!}
      first={100}
      closedFilters
      columns={COLUMNS}
      own={{
        start: {
          title: "Match",
          cell: ({ number, text, start, end, motif }) => (
            <a
              href={`?${new URLSearchParams({ ...Object.fromEntries(query), match: String(number) })}`}
              aria-current={number === selected ? "true" : undefined}
              onClick={onPlainClick(() => select(number!))}
            >
              <code>{shorten(text, 20)}</code>
              <small class="second-line">
                {start}–{end} · {motif}
              </small>
            </a>
          ),
        },
      }}
      download={{ path: `${jobPath(job)}/result`, name: fileName }}
    />
  );
}
