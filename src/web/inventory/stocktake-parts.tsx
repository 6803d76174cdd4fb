import { useState } from "preact/hooks";
import type { ScanResult, MissingAction } from "../../inventory/labels/stocktake.ts";
import type {
  CodeLine,
  NamedLocation,
  RecordLine,
  StocktakeReport,
} from "../../inventory/resources/stocktake-report.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { pagePath, listSingular } from "./declaration.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField } from "../components/field.tsx";
import { useSubmission } from "../components/form.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { call, isUnreachable, callForResponse } from "../request.ts";
import { type Preview, showDone } from "./write-record.ts";

/** A scan with the server's verdict, or one that waits for it. */
export type LoggedScan = Omit<ScanResult, "verdict"> & { verdict: ScanResult["verdict"] | "waiting" };

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

export type { RecordLine };
type Line = RecordLine | CodeLine;
type Lists = "found" | "misplaced" | "missing" | "other";
/** The parts of a report that pages show. */
export type Count = Pick<StocktakeReport, "location" | "counts" | Lists | "unknown">;

/** The result of a stocktake in one line. */
export function Answer({ count: { counts }, isOpen }: { count: Count; isOpen: boolean }) {
  const { expected, found, missing, misplaced, unknown } = counts;
  const differences = { [isOpen ? "not scanned yet" : "missing"]: missing, misplaced, unknown };
  return (
    <div class="answer" role="status">
      <p>
        {formatCount(found)} of {formatCount(expected)} found
      </p>
      {Object.entries(differences).map(([name, total]) => (
        <span key={name} class="chip">
          <b>{formatCount(total)}</b> {name}
        </span>
      ))}
      <progress aria-label="Found" max={Math.max(1, expected)} value={found} />
    </div>
  );
}

type RemoveScan = ((code: string) => Promise<void>) | undefined;
const FIRST_ITEMS = 100;

/** Records in one state, or unknown codes. */
export function Lines(props: {
  title: string;
  lines: readonly Line[];
  empty?: string;
  onForget?: RemoveScan;
}) {
  const { title, lines, empty, onForget } = props;
  const [showsAll, setShowsAll] = useState(false);
  return (
    <Card title={title} count={formatCount(lines.length)} bare>
      <ul class="list">
        {lines.length === 0 && <li class="muted">{empty}</li>}
        {lines.slice(0, showsAll ? lines.length : FIRST_ITEMS).map((line) => (
          <li key={line.code ?? line.id}>
            <span class="grow">
              {line.name === undefined ? (
                <code>{line.code}</code>
              ) : (
                <>
                  <a href={href(pagePath(line.segment, line.id))}>{line.name}</a>
                  <small>{lineText(line)}</small>
                </>
              )}
            </span>
            {onForget && line.code !== undefined && (
              <Button
                look="quiet"
                small
                aria-label={
                  line.name === undefined ? `Remove ${line.code}` : `Remove the scan of ${line.name}`
                }
                onClick={() => void onForget(line.code!)}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
        {!showsAll && lines.length > FIRST_ITEMS && (
          <li>
            <Button look="quiet" small onClick={() => setShowsAll(true)}>
              {formatCount(lines.length - FIRST_ITEMS)} more
            </Button>
          </li>
        )}
      </ul>
    </Card>
  );
}

function lineText({ segment, at, to, position, done }: RecordLine): string {
  const formatName = ({ name }: NamedLocation) => name ?? "a location that you cannot view";
  const recorded = at ? [formatName(at), position].filter(Boolean).join(" ") : "nowhere";
  const place = to ? `recorded in ${recorded}, found in ${formatName(to)}` : at && recorded;
  return [listSingular(segment), place, done].filter(Boolean).join(", ");
}

const VERDICTS: Record<LoggedScan["verdict"], [words: string, tone?: "ok" | "warn" | "danger"]> = {
  found: ["found", "ok"],
  misplaced: ["misplaced", "warn"],
  place: ["now here"],
  unknown: ["unknown", "danger"],
  other: ["not stored in locations", "warn"],
  waiting: ["waiting", "warn"],
};

/** The last scans. */
export const ScanLog = (props: {
  scans: readonly LoggedScan[];
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

/** Choices for the records that were not scanned. */
function missingSentence(count: number, missing: MissingAction): string {
  const fates = {
    keep: ["stays unchanged", "stay unchanged"],
    status: ["is marked as missing", "are marked as missing"],
    clear: ["loses its location", "lose their location"],
  };
  const subject = pluralize(count, "record that was", "records that were");
  return `${subject} not scanned ${fates[missing][count === 1 ? 0 : 1]}.`;
}

/** The dry run of applying a stocktake. @throws ApiError */
async function previewApply(id: string, missing: MissingAction, signal: AbortSignal): Promise<Preview> {
  const answer = await call("POST /api/v2/:list/:id/apply/", {
    params: { list: LIST, id },
    body: { missing },
    query: { dry_run: "1", changes: 0 },
    signal,
  });
  if (!("confirm" in answer)) throw new Error("A dry run is answered by a preview.");
  return answer;
}

/** Preview of the changes that applying a stocktake writes, with a button that applies it. */
export function ApplyDialog(props: {
  id: string;
  /** Record; undefined if this device does not know it. */
  count: Count | undefined;
  onClose: () => void;
  onDone: () => void;
  /** Applies it later, where the server does not respond; undefined if this device does not work without it. */
  onLater: (() => Promise<void>) | undefined;
}) {
  const { id, count, onClose, onDone, onLater } = props;
  const [missing, setMissing] = useState<MissingAction>("keep");
  const body = { missing };
  const preview = useLoaded(missing, (signal) => previewApply(id, missing, signal));
  // Applying writes the stocktake too.
  const changed = Math.max(0, (preview.value?.count ?? 1) - 1);
  const isLater = onLater !== undefined && isUnreachable(preview.error);
  const form = useSubmission(async () => {
    if (isLater) {
      await onLater();
      onClose();
      return true;
    }
    const response = await callForResponse("POST /api/v2/:list/:id/apply/", {
      params: { list: LIST, id },
      body,
      query: { confirm: preview.value?.confirm },
    });
    showDone("Stocktake applied.", response, onDone);
    onDone();
    onClose();
    return true;
  });
  const error = form.error ?? (isLater ? undefined : preview.error);
  return (
    <Dialog
      title="Apply the stocktake"
      onClose={onClose}
      cancel
      actions={
        <Button look="primary" busy={form.busy} disabled={!preview.value && !isLater} onClick={form.submit}>
          Apply
        </Button>
      }
    >
      {error !== undefined && error !== null && <ErrorBanner error={error} />}
      {count && !isLater && <Effects count={count} missing={missing} onChange={setMissing} />}
      <p role="status">
        {isLater &&
          "The server does not respond. It counts the scans and applies the stocktake when it does; records that were not scanned stay unchanged. You can undo this then."}
        {preview.value &&
          !isLater &&
          `${pluralize(changed, "record")} will change, except those that you may not edit. You can undo this.`}
      </p>
    </Dialog>
  );
}

/** Explains the changes of applying, and offers the choice for records that were not scanned. */
const Effects = (props: {
  count: Count;
  missing: MissingAction;
  onChange: (missing: MissingAction) => void;
}) => (
  <>
    <p>
      {pluralize(props.count.misplaced.length, "misplaced record")}{" "}
      {props.count.misplaced.length === 1 ? "moves" : "move"} to where{" "}
      {props.count.misplaced.length === 1 ? "it was" : "they were"} found.
    </p>
    {props.count.missing.length > 0 && (
      <>
        <SelectField
          label="Records that were not scanned"
          value={props.missing}
          choices={[
            { value: "keep", name: "Leave them unchanged" },
            { value: "status", name: "Set their status to Missing" },
            { value: "clear", name: "Clear their location" },
          ]}
          onChange={props.onChange}
        />
        <p>{missingSentence(props.count.missing.length, props.missing)}</p>
      </>
    )}
  </>
);
