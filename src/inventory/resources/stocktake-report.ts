import { Type } from "typebox";
import { ALWAYS } from "../model/condition.ts";
import { selectVisible } from "../model/plan.ts";
import type { ReadContext } from "../model/resource.ts";
import { clause } from "../model/sql.ts";
import { couldViewThen } from "../model/visible-then.ts";

/** Lists of a report. */
export const RESULTS = ["found", "misplaced", "missing", "unknown", "other", "places"] as const;
type Result = (typeof RESULTS)[number];

/** A location; its name is null for callers who may not view it. */
export interface NamedLocation {
  id: string;
  name: string | null;
}

/** One item of a report. A code that stands for nothing, or for nothing that the reader may view, has no record. */
export interface ReportLine {
  code?: string;
  segment?: string;
  id?: string;
  name?: string;
  barcode?: string | null;
  /** The recorded location. */
  at?: NamedLocation | null;
  /** Position recorded there. */
  position?: string;
  /** True if a misplaced item is recorded inside the counted location. */
  expected?: boolean;
  /** The location where a misplaced item was scanned; absent for readers who may not view it. */
  to?: NamedLocation;
  /** Effect on the item when the stocktake was applied. */
  done?: string;
}

/** A record in the report that readers get. */
export interface RecordLine extends Omit<ReportLine, "segment" | "id" | "name" | "at"> {
  segment: string;
  id: string;
  name: string;
  at: NamedLocation | null;
}

/** A code that stands for nothing, or for a deleted record. */
export interface CodeLine extends Omit<ReportLine, "name"> {
  code: string;
  name?: undefined;
}

/** The report that readers get. */
export interface StocktakeReport
  extends Pick<Report, "location" | "counts">, Record<Exclude<Result, "unknown">, RecordLine[]> {
  unknown: CodeLine[];
}

/** The outcome of a stocktake. */
export interface Report extends Record<Result, ReportLine[]> {
  /** Last change when the report was stored; removed before readers get the report. */
  cursor?: number;
  location: { id: string; name: string };
  counts: Record<"expected" | Result, number>;
}

const TEXT = Type.String();
const COUNT = Type.Integer();
const NULL = Type.Null();
const PLACE = Type.Object({ id: TEXT, name: Type.Union([TEXT, NULL]) });
const LINE = Type.Object(
  {
    code: Type.Optional(TEXT),
    segment: Type.Optional(TEXT),
    id: Type.Optional(TEXT),
    name: Type.Optional(TEXT),
    barcode: Type.Optional(Type.Union([TEXT, NULL])),
    at: Type.Optional(Type.Union([PLACE, NULL], { description: "The recorded location." })),
    position: Type.Optional(TEXT),
    expected: Type.Optional(
      Type.Boolean({ description: "True if a misplaced item is recorded inside the counted location." }),
    ),
    to: Type.Optional(PLACE),
    done: Type.Optional(Type.String({ description: "Effect on the item when the stocktake was applied." })),
  },
  { $id: "StocktakeLine" },
);

/** A report as readers get it. */
export const REPORT = Type.Unsafe<StocktakeReport>(
  Type.Object(
    {
      location: Type.Object({ id: TEXT, name: TEXT }),
      counts: Type.Object(Object.fromEntries(["expected", ...RESULTS].map((name) => [name, COUNT]))),
      ...Object.fromEntries(RESULTS.map((name) => [name, Type.Array(LINE)])),
    },
    { $id: "StocktakeReport" },
  ),
);

const NATURAL = new Intl.Collator("en", { numeric: true });
const rowLength = ({ position = "" }: ReportLine): number => /^[A-Z]*/.exec(position)![0].length;

/** Negative if an item comes before another one as one walks from slot to slot: A2 before A10, Z1 before AA1. */
export const compareSlots = (a: ReportLine, b: ReportLine): number =>
  NATURAL.compare(a.at?.name ?? "", b.at?.name ?? "") ||
  rowLength(a) - rowLength(b) ||
  NATURAL.compare(a.position ?? "", b.position ?? "") ||
  NATURAL.compare(a.name ?? "", b.name ?? "");

/**
 * A stored report without the records that the reader may not view today, or could not view when it was stored with
 * their names of then, as if they had neither been recorded nor scanned. Null where that is the counted location.
 */
export function judgeReport({ cursor, ...report }: Report, context: ReadContext): Report | null {
  if (context.actor.superuser) return report;
  const lines = RESULTS.flatMap((result) => report[result]);
  const places = [report.location, ...lines.flatMap(({ at, to }) => [at, to])];
  const canView = visibleAmong(context, cursor, [
    ...lines,
    ...places.map((place) => ({ segment: "locations", id: place?.id })),
  ]);
  if (!canView("locations", report.location.id)) return null;
  const named = (place: NamedLocation): NamedLocation =>
    canView("locations", place.id) ? place : { id: place.id, name: null };
  const isShown = ({ segment, id }: ReportLine): boolean => segment === undefined || canView(segment, id!);
  const judged = RESULTS.map((result): [Result, ReportLine[]] => [
    result,
    report[result]
      .filter(isShown)
      .map(({ at, to, ...line }) => {
        // The item itself shows the id of where it is recorded, but not of where it was scanned.
        const isSeen = to && canView("locations", to.id);
        return Object.assign(line, at !== undefined && { at: at && named(at) }, isSeen && { to });
      })
      .toSorted(compareSlots),
  ]);
  const counts = judged.map(([result, shown]): [Result, number] => [result, shown.length]);
  const recorded = [...report.found, ...report.missing, ...report.misplaced.filter((line) => line.expected)];
  const hidden = recorded.filter((line) => !isShown(line)).length;
  return {
    location: report.location,
    counts: {
      expected: report.counts.expected - hidden,
      ...(Object.fromEntries(counts) as Record<Result, number>),
    },
    ...(Object.fromEntries(judged) as Record<Result, ReportLine[]>),
  };
}

/** The named records that the reader may view, and could view at the time of the cursor. */
function visibleAmong(
  { query, resources, actor }: ReadContext,
  cursor: number | undefined,
  lines: readonly { segment?: string | undefined; id?: string | undefined }[],
): (segment: string, id: string) => boolean {
  const seen = new Set<string>();
  for (const [segment, named] of Map.groupBy(lines, (line) => line.segment)) {
    const resource = [...resources.values()].find((each) => each.segment === segment);
    if (segment === undefined || !resource) continue;
    const then =
      cursor === undefined
        ? clause("1")
        : couldViewThen(resource, actor, { rid: "t.rid", upTo: `p.seq <= ${Number(cursor)}` });
    const tail = ` AND ${then.text} AND t.id IN (SELECT value FROM json_each(?))`;
    const { text, args } = selectVisible({ resources, actor }, resource, "t.id AS id", ALWAYS, tail);
    const ids = JSON.stringify(named.map(({ id }) => id));
    for (const { id } of query.all({ text, args: [...args, ...then.args, ids] }))
      seen.add(`${segment} ${String(id)}`);
  }
  return (segment, id) => seen.has(`${segment} ${id}`);
}
