import { useState } from "preact/hooks";
import type { Report, ScanResult } from "../../inventory/labels/stocktake.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { formatCount } from "../format.tsx";
import { pageOf, singularOf } from "./declaration.ts";

export type { ScanResult };

export const LIST = "stocktakes";

export interface Stocktake {
  id: string;
  name: string;
  location: string;
  state: "OPEN" | "APPLIED";
  created: string;
  created_by: string;
  modified: string;
  modified_by: string;
}

interface Place {
  id: string;
  name: string | null;
}
/** A record in a stocktake. */
interface Line {
  segment: string;
  id: string;
  name: string;
  code?: string;
  /** Where it is recorded to be, and where it was found. */
  at: Place | null;
  to?: Place;
  /** What applying the stocktake did. */
  done?: string;
}
type Lists = "found" | "misplaced" | "missing" | "other";
export type Count = Pick<Report, "location" | "counts"> &
  Record<Lists, Line[]> & { unknown: { code: string }[] };

/** The result of a stocktake in one line. */
export function Answer({ count: { counts } }: { count: Count }) {
  const { expected, found, missing, misplaced, unknown } = counts;
  const figures = { missing, misplaced, unknown };
  return (
    <div class="answer" role="status">
      <p>
        {formatCount(found)} of {formatCount(expected)} found
      </p>
      {Object.entries(figures).map(([name, figure]) => (
        <span key={name} class="chip">
          <b>{formatCount(figure)}</b> {name}
        </span>
      ))}
      <progress aria-label="Found" max={Math.max(1, expected)} value={found} />
    </div>
  );
}

const FIRST = 100;

/** Records in one state. */
export function Lines(props: {
  title: string;
  lines: readonly Line[];
  empty: string;
  showsDone?: boolean;
  onForget?: ((code: string) => Promise<void>) | undefined;
}) {
  const { title, lines, empty, showsDone = false, onForget } = props;
  const [showsAll, setShowsAll] = useState(false);
  return (
    <Card title={title} count={formatCount(lines.length)} bare>
      <ul class="list">
        {lines.length === 0 && <li class="muted">{empty}</li>}
        {lines.slice(0, showsAll ? lines.length : FIRST).map((line) => (
          <li key={line.id}>
            <span class="grow">
              <a href={href(pageOf(line.segment, line.id))}>{line.name}</a>
              <small>{lineText(line, showsDone)}</small>
            </span>
            {onForget && line.code !== undefined && (
              <Button
                look="quiet"
                small
                aria-label={`Remove the scan of ${line.name}`}
                onClick={() => void onForget(line.code!)}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
        {!showsAll && lines.length > FIRST && (
          <li>
            <Button look="quiet" small onClick={() => setShowsAll(true)}>
              {formatCount(lines.length - FIRST)} more
            </Button>
          </li>
        )}
      </ul>
    </Card>
  );
}

function lineText({ segment, at, to, done }: Line, showsDone: boolean): string {
  const recorded = at ? (at.name ?? "a location that you cannot view") : "nowhere";
  return [
    singularOf(segment),
    to ? `recorded in ${recorded}, found in ${to.name}` : at && recorded,
    showsDone && done,
  ]
    .filter(Boolean)
    .join(", ");
}

export const UnknownCodes = (props: {
  codes: readonly string[];
  onForget: ((code: string) => Promise<void>) | undefined;
}) =>
  props.codes.length === 0 ? null : (
    <Card title="Unknown codes" count={props.codes.length} bare>
      <ul class="list">
        {props.codes.map((code) => (
          <li key={code}>
            <code class="grow">{code}</code>
            {props.onForget && (
              <Button
                look="quiet"
                small
                aria-label={`Remove ${code}`}
                onClick={() => void props.onForget!(code)}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );

const VERDICTS: Record<ScanResult["verdict"], [words: string, tone?: "ok" | "warn" | "danger"]> = {
  found: ["found", "ok"],
  misplaced: ["misplaced", "warn"],
  place: ["now here"],
  unknown: ["unknown", "danger"],
  other: ["not stored in locations", "warn"],
};

/** The last scans. */
export const ScanLog = (props: {
  scans: readonly ScanResult[];
  placeName: string;
  onChoose: (code: string, id: string) => void;
}) => (
  <div role="status">
    <ul class="stack" aria-label={`Scans in ${props.placeName}`}>
      {props.scans.map(({ code, verdict, record, again, matches }) => {
        const [words, tone] = VERDICTS[verdict];
        return (
          <li key={code}>
            <Tag tone={tone}>{words}</Tag> {record?.name ?? <code>{code}</code>}
            {again && <small>scanned before</small>}
            {matches.map(({ id, name }) => (
              <Button key={id} small onClick={() => props.onChoose(code, id)}>
                Choose {name}
              </Button>
            ))}
          </li>
        );
      })}
    </ul>
  </div>
);
