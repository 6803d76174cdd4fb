import type { Json } from "../../inventory/model/field.ts";
import { useState } from "preact/hooks";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox, SelectField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { SkeletonWord, Skeleton, useLoaded } from "../components/loaded.tsx";
import { pluralize, formatCount } from "../format.tsx";
import { ApiError, removeId } from "../request.ts";
import {
  columnTitle,
  type Declaration,
  type FieldInfo,
  findField,
  formFields,
  isEditable,
  isSetByPeople,
  isStored,
  placeFields,
  storedIn,
} from "./declaration.ts";
import { useFreeSlots } from "./free-slots.tsx";
import {
  parseInput,
  formatText,
  recordName,
  readPage,
  type RecordValue,
  Value,
  PlainValue,
} from "./record.tsx";
import { type GrantChanges, ShareForm, shareRequest } from "./sharing.tsx";
import { ExposedRecords } from "./sharing-confirmation.tsx";
import { ValueInput } from "./value-input.tsx";
import {
  applyBulk,
  type BulkChange,
  previewBulk,
  type Selected,
  showDone,
  type Preview,
  PREVIEW_SIZE,
} from "./write-record.ts";
import { type Column, Table } from "../components/table.tsx";
import { readList } from "./read-list.ts";

/** Changes to many records: chosen, previewed, then done in one batch. */

export type Task = "Edit" | "Move" | "Share" | "Delete";

interface BulkProps {
  task: Task;
  of: Declaration;
  selected: Selected;
  count: number;
  onClose: () => void;
  /** Something was written or undone. */
  onDone: () => void;
}

export function BulkDialog(props: BulkProps) {
  const { task, of, selected } = props;
  const [change, setChange] = useState<BulkChange["change"] | null>(
    task === "Delete" ? { kind: "delete" } : null,
  );
  const [ids, setIds] = useState<readonly string[] | null>(null);
  if (change)
    return (
      <PreviewDialog
        {...props}
        change={{ segment: of.name, selected: ids ? { ids } : selected, change }}
        onBack={task === "Delete" ? undefined : () => setChange(null)}
      />
    );
  if (task !== "Share")
    return (
      <EditDialog
        {...props}
        onReady={(values) => setChange({ kind: "values", values })}
        onFill={(location, moved) => {
          setIds(moved);
          setChange({ kind: "fill", location });
        }}
      />
    );
  return (
    <ShareDialog
      {...props}
      onReady={(request, shared) => {
        setIds(shared);
        setChange({ kind: "share", request });
      }}
    />
  );
}

interface EditProps extends BulkProps {
  onReady: (values: Record<string, Json>) => void;
  /** Moves records with these ids into the free slots of a location. */
  onFill: (location: string, ids: readonly string[]) => void;
}

function EditDialog(props: EditProps) {
  const { task, of, selected, count, onClose, onReady, onFill } = props;
  const isMove = task === "Move";
  const offered = isMove
    ? placeFields(of)
    : [...formFields(of), ...Object.entries(of.annotations)].flatMap(([name, field]) =>
        name !== of.key && isEditable(field) ? name : [],
      );
  const [names, setNames] = useState(offered.slice(0, 1));
  const [values, setValues] = useState<Record<string, string>>({});
  const rest = offered.filter((name) => !names.includes(name));
  const label = (name: string): string => columnTitle(of, name);
  const fieldAt = (name: string): FieldInfo => findField(of, name)!;
  const [isFilling, setFilling] = useState(true);
  const location = isMove && names.length === 1 && isStored(of) ? (values[storedIn(of)!] ?? "") : "";
  const space = useFreeSlots("locations", location);
  const form = useSubmission(async () => {
    if (space && isFilling) return onFill(location, await selectedIds(of, selected));
    onReady(Object.fromEntries(names.map((name) => [name, parseInput(values[name] ?? "", fieldAt(name))])));
  });
  return (
    <Dialog title={`${task} ${pluralize(count, "record")}`} onClose={onClose}>
      <form class="form" onSubmit={form.submit}>
        {names.map((name, i) => (
          <div key={name} class="stack">
            {!isMove && (
              <SelectField
                label="Field"
                value={name}
                choices={[name, ...rest].map((value) => ({ value, name: label(value) }))}
                onChange={(chosen) => setNames(names.with(i, chosen))}
              />
            )}
            <ValueInput
              segment={of.name}
              name={name}
              field={{ ...fieldAt(name), write: "required" }}
              label={isMove ? `To ${label(name).toLowerCase()}` : "New value"}
              value={values[name] ?? ""}
              onChange={(value) => setValues({ ...values, [name]: value })}
            />
          </div>
        ))}
        {space && (
          <Checkbox
            label={`Fill free slots in order (${formatCount(space.free)} free)`}
            checked={isFilling}
            onChange={setFilling}
          />
        )}
        <div class="row">
          {rest.length > 0 && (
            <Button small icon="plus" onClick={() => setNames([...names, rest[0]])}>
              {isMove ? `Set ${label(rest[0]).toLowerCase()}` : "Add a field"}
            </Button>
          )}
          {names.length > 1 && (
            <Button look="quiet" small onClick={() => setNames(names.slice(0, -1))}>
              Remove field
            </Button>
          )}
        </div>
        <FormError of={form} shown={[]} />
        <div class="actions">
          <Button look="primary" type="submit">
            Preview
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

async function selectedIds(of: Declaration, selected: Selected): Promise<readonly string[]> {
  if ("ids" in selected) return selected.ids;
  const query = { ...selected.filters, fields: "id", response_format: "flat", page_size: "max" };
  const { results } = await readList<{ id: string }>(of.name, query);
  return results.map(({ id }) => id);
}

/** The API shares at most this many records at once. */
const MAX_SHARED = 10_000;

function ShareDialog(
  props: BulkProps & { onReady: (request: GrantChanges, ids: readonly string[]) => void },
) {
  const { of, selected, count, onClose, onReady } = props;
  return (
    <Dialog title={`Share ${pluralize(count, "record")}`} onClose={onClose}>
      {count > MAX_SHARED && (
        <Banner tone="warn">
          At most {pluralize(MAX_SHARED, "record")} can be shared at once. Narrow the filter.
        </Banner>
      )}
      <p class="hint">This adds to the existing permissions.</p>
      <ShareForm
        submit="Preview"
        onShare={async (...shared) => onReady(shareRequest(...shared), await selectedIds(of, selected))}
      />
    </Dialog>
  );
}

const WORDS = {
  values: { verb: "Change", done: "Changed", would: "will change" },
  delete: { verb: "Delete", done: "Deleted", would: "will be hidden from lists. You can restore them" },
  share: { verb: "Share", done: "Shared", would: "will get new permissions" },
  fill: { verb: "Move", done: "Moved", would: "will move into free slots" },
} as const;

/** Preview of the changes, record by record. */
function PreviewDialog(props: BulkProps & { change: BulkChange; onBack: (() => void) | undefined }) {
  const { task, of, count, change, onClose, onDone, onBack } = props;
  const preview = useLoaded("preview", () => previewBulk(change));
  const { kind } = change.change;
  const words = WORDS[kind];
  const form = useSubmission(async () => {
    const response = await applyBulk(change, preview.value!);
    showDone(`${words.done} ${pluralize(preview.value!.records, "record")}.`, response, onDone);
    onDone();
    onClose();
    return true;
  });
  const changed = preview.value?.records ?? 0;
  const error = preview.error ?? form.error ?? undefined;
  return (
    <Dialog
      wide
      cancel
      title={`${task} ${pluralize(count, "record")}`}
      onClose={onClose}
      actions={
        <>
          {changed > 0 && (
            <Button look={kind === "delete" ? "danger" : "primary"} busy={form.busy} onClick={form.submit}>
              {words.verb} {pluralize(changed, "record")}
            </Button>
          )}
          {onBack && <Button onClick={onBack}>Back</Button>}
        </>
      }
    >
      {preview.busy && <Skeleton />}
      {error !== undefined && <BulkError error={error} of={of} />}
      {preview.value && (
        <>
          <p>{changed === 0 ? "Nothing would change." : `${pluralize(changed, "record")} ${words.would}.`}</p>
          <ExposedRecords exposes={preview.value.exposes} />
          <PreviewTable
            of={of}
            preview={preview.value}
            hasValues={kind === "values" || kind === "fill"}
            entered={change.change.kind === "values" ? change.change.values : {}}
          />
        </>
      )}
    </Dialog>
  );
}

type Change = Preview["changes"][number];

/** The records with these ids, by id, with some of their fields. */
function useRows(of: Declaration, ids: readonly string[], fields: readonly string[]) {
  const { value } = useLoaded(ids.length === 0 ? null : ids.join(), (signal) =>
    readPage(of, { id: ids, page_size: String(PREVIEW_SIZE) }, fields, signal),
  );
  return new Map(value?.rows.map((row) => [row.id, row]));
}

const recordId = ({ id, of }: Change): string => String(of?.id ?? id);

/** The first records of a bulk change, with the current and the new value of each field. */
export function PreviewTable(props: {
  of: Declaration;
  preview: Preview;
  hasValues: boolean;
  /** The values that were entered, by name. */
  entered: Readonly<Record<string, unknown>>;
}) {
  const { of, preview, hasValues, entered } = props;
  // An annotation is a change of its record.
  const changes = [...Map.groupBy(preview.changes, recordId).values()].slice(0, PREVIEW_SIZE);
  const own = changes.flat().flatMap((change) => (change.of ? [] : Object.keys(change.after ?? {})));
  const annotations = Object.keys(entered).filter((name) => name in of.annotations);
  const changed = [...new Set([...own, ...annotations])];
  const names = hasValues ? changed.filter((name) => findField(of, name) && isSetByPeople(of, name)) : [];
  const rows = useRows(
    of,
    changes.map(([change]) => recordId(change)),
    names,
  );
  if (changes.length === 0) return null;
  const columns: Column<Change[]>[] = [
    {
      name: of.key,
      title: columnTitle(of, of.key),
      heading: true,
      cell: ([change]) => {
        const row = rows.get(recordId(change));
        return row ? recordName(of, row) : <SkeletonWord />;
      },
    },
    ...names.map((name): Column<Change[]> => {
      const field = findField(of, name)!;
      return {
        name,
        title: columnTitle(of, name),
        cell: (written) => {
          const row = rows.get(recordId(written[0]));
          const after = findWritten(written, name, entered[name], field);
          if (after === undefined) return <span class="muted">unchanged</span>;
          return (
            <>
              <del>
                <Value value={row?.values[name]} field={{ ...field, reference: null }} />
              </del>{" "}
              <ins>
                <PlainValue value={after} field={field} />
              </ins>
            </>
          );
        },
      };
    }),
  ];
  const more = preview.records - changes.length;
  return (
    <>
      <Table caption="Preview" columns={columns} rows={changes} rowKey={([change]) => recordId(change)} />
      {more > 0 && <p class="muted">and {pluralize(more, "record")} more</p>}
    </>
  );
}

/** The new value of a field; undefined if it stays as it is. Annotations get the value that was entered. */
function findWritten(
  written: readonly Change[],
  name: string,
  entered: unknown,
  field: FieldInfo,
): RecordValue | undefined {
  if (field.annotation) return entered as RecordValue;
  const own = written.find(({ of, after }) => !of && after && name in after);
  return own?.after?.[name] as RecordValue | undefined;
}

/** Why a bulk change is not possible, record by record. */
export function BulkError({ error, of }: { error: unknown; of: Declaration }) {
  const body = error instanceof ApiError ? error.body : {};
  const refused = (Array.isArray(body.rows) ? (body.rows as { id?: string; message: string }[]) : []).slice(
    0,
    PREVIEW_SIZE,
  );
  const rows = useRows(
    of,
    refused.flatMap(({ id }) => id ?? []),
    [],
  );
  if (refused.length === 0) return <ErrorBanner error={error} />;
  const count = Number(body.refused ?? refused.length);
  return (
    <div class="banner banner-danger" role="alert">
      <div class="grow">
        <p>
          <strong>{pluralize(count, "record")} cannot be changed, so nothing was changed.</strong>
        </p>
        <ul class="bullets">
          {refused.map(({ id, message }, i) => {
            const row = id === undefined ? undefined : rows.get(id);
            const name = row ? formatText(row.values[of.key]) : id;
            return (
              <li key={i}>
                {name && <strong>{name}: </strong>}
                {/* Messages may begin with the name. */}
                {removeId(message).replace(`${JSON.stringify(name)} `, "")}
              </li>
            );
          })}
        </ul>
        {count > refused.length && <p>and {pluralize(count - refused.length, "record")} more</p>}
      </div>
    </div>
  );
}
