import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField } from "../components/field.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Table } from "../components/table.tsx";
import { formatTime } from "../format.tsx";
import { callForResponse } from "../request.ts";
import { readParts } from "./read-list.ts";
import { findAnnotation, type Declaration, findField } from "./declaration.ts";
import type { Change } from "./history.tsx";
import {
  formatText,
  readRecord,
  type RecordValue,
  type Row,
  toRow,
  findSuffix,
  Value,
  WHOLE,
} from "./record.tsx";
import { write } from "./write-record.ts";

/** Two versions of a record side by side, and the way back to one of them. */

interface Version {
  batch: string;
  version: number;
  name: string;
}

/** States of a record and its metadata, the latest first; each was left by one batch, and has a number of its own. */
export function listVersions(
  { name: list }: Pick<Declaration, "name">,
  changes: readonly Change[],
): Version[] {
  const own = changes.toReversed();
  // Metadata belongs to the first version of which the record is known.
  const first = own.findIndex(({ resource }) => resource === list);
  const states = own
    .slice(Math.max(0, first))
    .filter(({ resource }) => first >= 0 && (resource === list || resource === "annotations"));
  // The last change of a batch has its final values.
  const last = states.filter(({ batch }, i) => batch !== states[i + 1]?.batch);
  const start = states[0]?.version ?? 1;
  return last
    .map(({ batch, at, user, full_name }, i) => {
      const version = start + i;
      return { batch, version, name: `Version ${version}, ${formatTime(at)}, ${full_name || user}` };
    })
    .toReversed();
}

interface CompareProps {
  of: Declaration;
  row: Row;
  /** At least one. */
  versions: readonly Version[];
  onRestored: (row: Row) => void;
  onUndone: () => void;
  onClose: () => void;
}

export function CompareDialog(props: CompareProps) {
  const { of, row, versions, onRestored, onUndone, onClose } = props;
  const [older, setOlder] = useState(versions[1]?.batch ?? versions[0].batch);
  const [newer, setNewer] = useState(versions[0].batch);
  const compared = useLoaded(`${older} ${newer}`, (signal) =>
    Promise.all([older, newer].map((batch) => readVersion(of, row.id, batch, signal))),
  );
  const choices = versions.map(({ batch, name }, i) => ({
    value: batch,
    name: i === 0 ? `${name} (now)` : name,
  }));
  const { version } = versions.find(({ batch }) => batch === older)!;
  const canRestore = row.mayChange && older !== versions[0].batch;
  const restore = (): Promise<void> =>
    write(
      () =>
        callForResponse("POST /api/v2/:list/:id/restore/", {
          params: { list: of.name, id: row.id },
          query: WHOLE,
          body: { batch: older },
        }),
      `Restored version ${version}.`,
      onUndone,
      async (response) => {
        onRestored(toRow(await response.json()));
        onClose();
      },
    );
  return (
    <Dialog
      wide
      title="Compare versions"
      onClose={onClose}
      actions={canRestore && <Button onClick={() => void restore()}>Restore version {version}</Button>}
    >
      <div class="field-pair">
        <SelectField label="From" value={older} choices={choices} onChange={setOlder} />
        <SelectField label="To" value={newer} choices={choices} onChange={setNewer} />
      </div>
      <Loaded of={compared}>{([from, to]) => <Differences of={of} from={from} to={to} />}</Loaded>
      {canRestore && (
        <p class="hint">
          Restoring changes fields and metadata back, and leaves notes and files as they are.
        </p>
      )}
    </Dialog>
  );
}

interface Annotation {
  annotation_type_id: string;
  value: RecordValue;
}

const readAnnotations = (of: Declaration, id: string, batch: string, signal: AbortSignal) =>
  readParts<Annotation>(
    { list: of.name, id, part: "annotations" },
    { as_of: batch, page_size: "max" },
    signal,
  );

/** A record as a batch left it, with its annotations, also of types that are no longer used. */
async function readVersion(of: Declaration, id: string, batch: string, signal: AbortSignal): Promise<Row> {
  const [row, results] = await Promise.all([
    readRecord(of.name, id, signal, { as_of: batch }),
    of.guarded ? readAnnotations(of, id, batch, signal) : [],
  ]);
  const annotations = results.flatMap(({ annotation_type_id, value }) => {
    const name = findAnnotation(of, annotation_type_id);
    return name === undefined ? [] : [[name, value] as const];
  });
  return { ...row, values: { ...row.values, ...Object.fromEntries(annotations) } };
}

/** Names of what people can change and what differs. */
export const listDifferences = (of: Declaration, from: Row, to: Row): string[] =>
  [...Object.keys(of.fields), ...Object.keys(of.annotations)].filter((name) => {
    const field = findField(of, name)!;
    const isOwn = field.annotation !== undefined || (field.write !== "never" && !field.form?.omitted);
    return isOwn && formatText(from.values[name], field) !== formatText(to.values[name], field);
  });

function Differences({ of, from, to }: { of: Declaration; from: Row; to: Row }) {
  const names = listDifferences(of, from, to);
  if (names.length === 0) return <p class="muted">Nothing differs.</p>;
  const cell = (row: Row) => (name: string) => (
    <Value value={row.values[name]} field={findField(of, name)} suffix={findSuffix(of, row, name)} />
  );
  return (
    <Table
      caption="What differs"
      rows={names}
      rowKey={(name) => name}
      columns={[
        { name: "field", title: "Field", heading: true, cell: (name) => findField(of, name)!.label },
        { name: "from", title: "From", cell: cell(from) },
        { name: "to", title: "To", cell: cell(to) },
      ]}
    />
  );
}
