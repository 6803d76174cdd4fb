import { useState } from "preact/hooks";
import { useLoaded } from "../components/loaded.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { get, ApiError } from "../request.ts";
import { api, type Declaration, titleOf, writableFields } from "./declaration.ts";
import { asText, readPage, type Row } from "./record.tsx";
import { ShareForm, wishOf } from "./sharing.tsx";
import { bodyValue, ValueInput } from "./value-input.tsx";
import {
  announceDone,
  type BulkWork,
  carryOut,
  type Preview,
  PREVIEWED,
  type Selected,
  tryOut,
} from "./write-record.ts";

/** Changes of several records: chosen, shown before they are done, and taken back in one click. */

export type Task = "edit" | "move" | "share" | "delete";

/** By which fields records of a list lie somewhere. */
export const placeFields = ({ fields }: Declaration): string[] =>
  ["parent", "location", "equipment", "place"].filter(
    (name) => fields[name]?.reference && fields[name].write !== "never",
  );

export const many = (count: number): string =>
  `${count.toLocaleString("en")} ${count === 1 ? "record" : "records"}`;

export function BulkDialog(props: {
  task: Task;
  of: Declaration;
  selected: Selected;
  count: number;
  onClose: () => void;
  /** Something was written: the list is to be read again. */
  onDone: () => void;
}) {
  const { task, of, selected, count, onClose, onDone } = props;
  if (task === "share")
    return <ShareSeveral of={of} selected={selected} count={count} onClose={onClose} onDone={onDone} />;
  if (task === "delete")
    return (
      <Confirm
        title={`Delete ${many(count)}`}
        work={{ segment: of.name, selected, change: { kind: "delete" } }}
        of={of}
        onClose={onClose}
        onDone={onDone}
      />
    );
  return <ChangeSeveral {...props} />;
}

function ChangeSeveral({ task, of, selected, count, onClose, onDone }: Parameters<typeof BulkDialog>[0]) {
  const offered =
    task === "move"
      ? placeFields(of)
      : writableFields(of)
          .filter(([name, field]) => name !== of.key && field.kind !== "json" && field.kind !== "computed")
          .map(([name]) => name);
  const [names, setNames] = useState<string[]>(offered.slice(0, 1));
  const [values, setValues] = useState<Record<string, string>>({});
  const [work, setWork] = useState<BulkWork | null>(null);
  if (work)
    return (
      <Confirm
        title={`${task === "move" ? "Move" : "Change"} ${many(count)}`}
        work={work}
        of={of}
        onClose={onClose}
        onDone={onDone}
        onBack={() => setWork(null)}
      />
    );
  const rest = offered.filter((name) => !names.includes(name));
  return (
    <Dialog title={`${task === "move" ? "Move" : "Change"} ${many(count)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const changed = names.map((name) => [name, bodyValue(values[name] ?? "", of.fields[name])]);
          setWork({
            segment: of.name,
            selected,
            change: { kind: "values", values: Object.fromEntries(changed) },
          });
        }}
      >
        {names.map((name, i) => (
          <div key={name} class="bulk-field">
            {task === "edit" && (
              <label>
                Field
                <select
                  value={name}
                  onChange={(event) =>
                    setNames(names.map((each, at) => (at === i ? event.currentTarget.value : each)))
                  }
                >
                  {[name, ...rest].map((each) => (
                    <option key={each} value={each}>
                      {of.fields[each].label}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <ValueInput
              segment={of.name}
              name={name}
              field={{ ...of.fields[name], write: "required" }}
              label={task === "move" ? `To: ${of.fields[name].label.toLowerCase()}` : "New value"}
              value={values[name] ?? ""}
              onChange={(value) => setValues({ ...values, [name]: value })}
            />
          </div>
        ))}
        <p class="row">
          {rest.length > 0 && (
            <Button onClick={() => setNames([...names, rest[0]])}>
              {task === "move" ? `Set ${of.fields[rest[0]].label.toLowerCase()} too` : "Another field"}
            </Button>
          )}
          {names.length > 1 && (
            <Button look="quiet" onClick={() => setNames(names.slice(0, -1))}>
              One less
            </Button>
          )}
        </p>
        <div class="actions">
          <Button look="primary" type="submit" disabled={names.length === 0}>
            Show what would change
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** What is said of each kind of change: on the button, before, after. */
const WORDS = {
  values: { verb: "Change", would: "would be changed.", did: "changed" },
  delete: {
    verb: "Delete",
    would: "would be deleted. They stay in the history, and can be brought back.",
    did: "deleted",
  },
  share: { verb: "Share", would: "would get another right there.", did: "shared" },
} as const;

/** What would be done, record by record, before it is. */
function Confirm(props: {
  title: string;
  work: BulkWork;
  of: Declaration;
  onClose: () => void;
  onDone: () => void;
  onBack?: () => void;
}) {
  const { title, work, of, onClose, onDone, onBack } = props;
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const tried = useLoaded("try", () => tryOut(work));
  const preview = tried.value;
  const words = WORDS[work.change.kind];
  const doIt = async (): Promise<void> => {
    if (!preview) return;
    setBusy(true);
    try {
      const batch = await carryOut(work, preview);
      announceDone(`${many(preview.count)} ${words.did}.`, batch, onDone);
      onDone();
      onClose();
    } catch (error) {
      setFailed(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          {preview && preview.count > 0 && (
            <Button
              look={work.change.kind === "delete" ? "danger" : "primary"}
              busy={busy}
              onClick={() => void doIt()}
            >
              {words.verb} {many(preview.count)}
            </Button>
          )}
          {onBack && <Button onClick={onBack}>Back</Button>}
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      {tried.busy && <p class="muted">Trying it out …</p>}
      {Boolean(tried.error ?? failed) && <Refused error={tried.error ?? failed} of={of} />}
      {preview && (
        <>
          <p>
            {preview.count === 0
              ? "All of them are like that already: nothing would change."
              : `${many(preview.count)} ${words.would}`}
          </p>
          <PreviewTable of={of} preview={preview} values={work.change.kind === "values"} />
        </>
      )}
    </Dialog>
  );
}

function PreviewTable({ of, preview, values }: { of: Declaration; preview: Preview; values: boolean }) {
  const changes = preview.changes.slice(0, PREVIEWED);
  const names = !values
    ? []
    : [...new Set(changes.flatMap(({ after }) => Object.keys(after ?? {})))].filter(
        (name) => name in of.fields && !["version", "modified", "modified_by"].includes(name),
      );
  const ids = changes.map(({ id, of: record }) => String(record?.id ?? id));
  // Names of the records and of what they refer to now; what they would refer to is named by whoever chose it.
  const now = useLoaded(ids.length === 0 ? null : ids.join(), (signal) =>
    readPage(of, { id: ids, page_size: String(PREVIEWED) }, names, signal),
  );
  const targets = useTargets(of, names, changes);
  if (changes.length === 0) return null;
  const rows = new Map(now.value?.rows.map((row) => [row.id, row]));
  return (
    <>
      <div class="wide" role="region" aria-label="What would change" tabIndex={0}>
        <table class="preview">
          <thead>
            <tr>
              <th scope="col">{titleOf(of.name)}</th>
              {names.map((name) => (
                <th key={name} scope="col">
                  {of.fields[name].label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {changes.map(({ after }, i) => {
              const row = rows.get(ids[i]);
              return (
                <tr key={ids[i]}>
                  <th scope="row">{row ? asText(row.values[of.key]) : "…"}</th>
                  {names.map((name) => (
                    <td key={name}>
                      {after && name in after ? (
                        <>
                          <del>{row ? asText(row.values[name]) : "…"}</del>{" "}
                          <span aria-label="becomes">→</span>{" "}
                          <ins>
                            {targets.get(`${name} ${String(after[name])}`) ?? asText(after[name] as string)}
                          </ins>
                        </>
                      ) : (
                        <span class="muted">stays</span>
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {preview.count > changes.length && (
        <p class="muted">and {many(preview.count - changes.length)} more.</p>
      )}
    </>
  );
}

/** Names of what records would refer to: few, for all of them get the same. */
function useTargets(
  of: Declaration,
  names: readonly string[],
  changes: Preview["changes"],
): Map<string, string> {
  const wanted = new Map<string, { segment: string; key: string; id: string }>();
  for (const { after } of changes)
    for (const name of names) {
      const to = of.fields[name]?.reference;
      const id = after?.[name];
      if (to?.printed === "id" && id !== null && id !== undefined)
        wanted.set(`${name} ${String(id)}`, { segment: to.segment, key: to.key, id: String(id) });
    }
  const key = [...wanted.keys()].join();
  const { value } = useLoaded(key === "" ? null : key, async () => {
    const found = await Promise.all(
      [...wanted].slice(0, 10).map(async ([at, { segment, key: named, id }]) => {
        const { results } = await get<{ results: Record<string, string> }>(api(segment, `${id}/`), {
          fields: `id,${named}`,
          response_format: "flat",
        });
        return [at, results[named]] as const;
      }),
    );
    return new Map(found);
  });
  return value ?? new Map();
}

interface RefusedRow {
  id?: string;
  message: string;
}

/** Why not: of each record that was refused. */
function Refused({ error, of }: { error: unknown; of: Declaration }) {
  const body = error instanceof ApiError ? error.body : {};
  const rows = (Array.isArray(body.rows) ? (body.rows as RefusedRow[]) : []).slice(0, PREVIEWED);
  const ids = rows.flatMap(({ id }) => id ?? []);
  const now = useLoaded(ids.length === 0 ? null : ids.join(), (signal) =>
    readPage(of, { id: ids, page_size: String(PREVIEWED) }, [], signal),
  );
  const named = new Map(now.value?.rows.map((row: Row) => [row.id, asText(row.values[of.key])]));
  if (rows.length === 0) return <ErrorBanner error={error} />;
  const refused = Number(body.refused ?? rows.length);
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{many(refused)} cannot be written, so that nothing was.</strong>
      </p>
      <ul>
        {rows.map(({ id, message }, i) => (
          <li key={i}>
            {id && <strong>{named.get(id) ?? id}: </strong>}
            {/* The name stands before it; the id says nothing to people. */}
            {message.replace(/^\w+ [0-9a-f-]{36} /, "")}
          </li>
        ))}
      </ul>
      {refused > rows.length && <p>and {many(refused - rows.length)} more.</p>}
    </div>
  );
}

/** Most records that are shared at once. */
const MOST_SHARED = 10_000;

function ShareSeveral({
  of,
  selected,
  count,
  onClose,
  onDone,
}: Omit<Parameters<typeof BulkDialog>[0], "task">) {
  const [work, setWork] = useState<BulkWork | null>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const prepare = async (wish: object): Promise<void> => {
    setBusy(true);
    setFailed(null);
    try {
      // Rights are given to records by their ids.
      const ids = "ids" in selected ? selected.ids : await allIds(of, selected.filters);
      setWork({ segment: of.name, selected: { ids }, change: { kind: "share", wish } });
    } catch (error) {
      setFailed(error);
    }
    setBusy(false);
  };
  if (work)
    return (
      <Confirm
        title={`Share ${many(count)}`}
        work={work}
        of={of}
        onClose={onClose}
        onDone={onDone}
        onBack={() => setWork(null)}
      />
    );
  return (
    <Dialog title={`Share ${many(count)}`} onClose={onClose}>
      {count > MOST_SHARED && (
        <p class="note warn">At most {many(MOST_SHARED)} are shared at once. Narrow the filter.</p>
      )}
      <p class="muted">Who is named gets this right on each of them; what others have stays.</p>
      {failed !== null && <Refused error={failed} of={of} />}
      <ShareForm
        busy={busy}
        label="Show what would change"
        onShare={(whom, name, level) => void prepare(wishOf(whom, name, level))}
      />
    </Dialog>
  );
}

async function allIds(of: Declaration, filters: Record<string, readonly string[]>): Promise<string[]> {
  const query = { ...filters, fields: "id", response_format: "flat", page_size: String(MOST_SHARED + 1) };
  const { results } = await get<{ results: { id: string }[] }>(api(of.name), query);
  return results.map(({ id }) => id);
}
