import { useState } from "preact/hooks";
import { announce } from "../part/announce.tsx";
import { Button } from "../part/button.tsx";
import { Dialog } from "../part/dialog.tsx";
import { Failure } from "../part/failure.tsx";
import { ask, get, Refusal } from "../request.ts";
import { api, type Declaration, titleOf, writableFields } from "./declaration.ts";
import { asText, isFar, readPage, type Row, sent } from "./record.tsx";
import { type Sharing, ShareForm, wishOf } from "./sharing.tsx";
import { useLoaded } from "./loaded.ts";
import { bodyValue, ValueInput } from "./value-input.tsx";
import {
  announceDone,
  type BulkWork,
  carryOut,
  type Preview,
  PREVIEWED,
  type Selected,
  tryOut,
} from "./writing.ts";

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
        work={{ segment: of.name, selected, values: undefined }}
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
          setWork({ segment: of.name, selected, values: Object.fromEntries(changed) });
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
  const doIt = async (): Promise<void> => {
    if (!preview) return;
    setBusy(true);
    try {
      const batch = await carryOut(work, preview);
      const did = work.values === undefined ? "deleted" : "changed";
      announceDone(`${many(preview.count)} ${did}.`, batch, onDone);
      onDone();
      onClose();
    } catch (error) {
      setFailed(error);
      setBusy(false);
    }
  };
  const deletes = work.values === undefined;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          {preview && preview.count > 0 && (
            <Button look={deletes ? "danger" : "primary"} busy={busy} onClick={() => void doIt()}>
              {deletes ? "Delete" : "Change"} {many(preview.count)}
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
          {preview.count === 0 ? (
            <p>All of them are like that already: nothing would change.</p>
          ) : (
            <p>
              {many(preview.count)} would be{" "}
              {deletes ? "deleted. They stay in the history, and can be brought back" : "changed"}.
            </p>
          )}
          <PreviewTable of={of} preview={preview} deletes={deletes} />
        </>
      )}
    </Dialog>
  );
}

function PreviewTable({ of, preview, deletes }: { of: Declaration; preview: Preview; deletes: boolean }) {
  const changes = preview.changes.slice(0, PREVIEWED);
  const names = deletes
    ? []
    : [...new Set(changes.flatMap(({ after }) => Object.keys(after ?? {})))].filter(
        (name) => name in of.fields && !["version", "modified", "modified_by"].includes(name),
      );
  const ids = changes.map(({ id }) => id);
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
            {changes.map(({ id, after }) => {
              const row = rows.get(id);
              return (
                <tr key={id}>
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
  const body = error instanceof Refusal ? error.body : {};
  const rows = (Array.isArray(body.rows) ? (body.rows as RefusedRow[]) : []).slice(0, PREVIEWED);
  const ids = rows.flatMap(({ id }) => id ?? []);
  const now = useLoaded(ids.length === 0 ? null : ids.join(), (signal) =>
    readPage(of, { id: ids, page_size: String(PREVIEWED) }, [], signal),
  );
  const named = new Map(now.value?.rows.map((row: Row) => [row.id, asText(row.values[of.key])]));
  if (rows.length === 0) return <Failure error={error} />;
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

/** Most records that are shared at once, and most of which what was before is kept for an undo. */
const MOST_SHARED = 10_000;
const MOST_KEPT = 100;

function ShareSeveral({
  of,
  selected,
  count,
  onClose,
  onDone,
}: Omit<Parameters<typeof BulkDialog>[0], "task">) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const may = useLoaded("may", (signal) =>
    readPage(of, { ...filterOf(selected), can_change: "true", page_size: "1" }, [], signal),
  );
  const changeable = may.value?.total;
  const share = async (wish: object, name: string): Promise<void> => {
    setBusy(true);
    setFailed(null);
    try {
      const ids = "ids" in selected ? [...selected.ids] : await allIds(of, selected.filters);
      const before = ids.length <= MOST_KEPT ? await sharings(of.name, ids) : undefined;
      await ask("PATCH", api(of.name, "permissions/"), { body: { ids, ...wish } });
      const undo = before && {
        label: "Undo",
        run: () =>
          void restore(of.name, before).then(
            () => announce("Undone."),
            (error: Error) => announce(`Not undone. ${error.message}`, "bad"),
          ),
      };
      announce(`${many(ids.length)} shared with ${name}.`, "good", undo);
      onDone();
      onClose();
    } catch (error) {
      setFailed(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Share ${many(count)}`} onClose={onClose}>
      {changeable !== undefined && changeable < count && (
        <p class="note warn">
          You may share {many(changeable)} of these {count.toLocaleString("en")}: only who may change a record
          shares it. Nothing is shared unless all can be.
        </p>
      )}
      {count > MOST_SHARED && (
        <p class="note warn">At most {many(MOST_SHARED)} are shared at once. Narrow the filter.</p>
      )}
      <p class="muted">
        Who is named gets this right on each of them; what others have stays.
        {count > MOST_KEPT && ` Of more than ${MOST_KEPT} records this cannot be undone in one click.`}
      </p>
      {failed !== null && <Refused error={failed} of={of} />}
      <ShareForm
        busy={busy}
        label={`Share ${many(count)}`}
        onShare={(whom, name, level) => void share(wishOf(whom, name, level), name)}
      />
    </Dialog>
  );
}

const filterOf = (selected: Selected): Record<string, readonly string[]> =>
  "ids" in selected ? { id: selected.ids.slice(0, 1000) } : selected.filters;

async function allIds(of: Declaration, filters: Record<string, readonly string[]>): Promise<string[]> {
  const query = { ...filters, fields: "id", response_format: "flat", page_size: String(MOST_SHARED + 1) };
  const { results } = await get<{ results: { id: string }[] }>(api(of.name), query);
  return results.map(({ id }) => id);
}

const sharings = (segment: string, ids: readonly string[]): Promise<[string, Sharing][]> =>
  Promise.all(
    ids.map(async (id) => [id, await get<Sharing>(api(segment, `${id}/permissions/`))] as [string, Sharing]),
  );

async function restore(segment: string, before: readonly [string, Sharing][]): Promise<void> {
  for (const [id, { users, groups }] of before) {
    const body = {
      users: users.map(({ username, view, change, delete: remove }) => ({
        user: username,
        view,
        change,
        delete: remove,
      })),
      groups: groups.map(({ name, view, change, delete: remove }) => ({
        group: name,
        view,
        change,
        delete: remove,
      })),
    };
    await ask("PUT", api(segment, `${id}/permissions/`), { body });
  }
}

/** What a value is as the text of a form; for those who start from a record. */
export const formValue = (row: Row, of: Declaration, name: string): string =>
  sent(row.values[name], of.fields[name]);
export const nameOfValue = (row: Row, name: string): string | undefined => {
  const value = row.values[name];
  return isFar(value) ? asText(value) : undefined;
};
