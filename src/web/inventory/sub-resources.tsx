import { useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { TextArea } from "../components/field.tsx";
import { get, send } from "../request.ts";
import { api, type Declaration } from "./declaration.ts";
import { localTime, type Row } from "./record.tsx";
import { announceDone } from "./write-record.ts";

/** Notes and files of a record. */

interface Note {
  id: string;
  content: string;
  created: string;
  created_by: string;
}

/** Runs a write and says what was done, with the way back, or why not; `then` runs after either way. @returns whether it was done */
export async function attempt(
  work: () => Promise<Response>,
  done: string,
  then: () => void,
): Promise<boolean> {
  try {
    announceDone(done, (await work()).headers.get("Batch-Id"), then);
    then();
    return true;
  } catch (error) {
    showToast((error as Error).message, "error");
    return false;
  }
}

interface Part {
  of: Declaration;
  row: Row;
  /** Something was written. */
  onChanged: () => void;
}

export function Notes({ of, row, onChanged }: Part) {
  const path = api(of.name, `${row.id}/notes/`);
  const notes = useLoaded(path, (signal) => get<{ results: Note[] }>(path, {}, signal));
  const again = (): void => {
    notes.reload();
    onChanged();
  };
  const [text, setText] = useState("");
  const [editing, setEditing] = useState<{ id: string; content: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const body = { content: editing ? editing.content : text };
    const done = editing
      ? await attempt(() => send("PATCH", `${path}${editing.id}/`, { body }), "Note changed.", again)
      : await attempt(() => send("POST", path, { body }), "Note added.", again);
    setBusy(false);
    if (!done) return;
    if (editing) setEditing(null);
    else setText("");
  };
  const remove = (id: string): Promise<boolean> =>
    attempt(() => send("DELETE", `${path}${id}/`), "Note deleted.", again);
  if (!notes.value && notes.error) return <ErrorBanner error={notes.error} retry={notes.reload} />;
  return (
    <>
      {notes.value?.results.length === 0 && <p class="muted">None.</p>}
      <ul class="bare notes">
        {notes.value?.results.map(({ id, content, created, created_by }) => (
          <li key={id}>
            {editing?.id === id ? (
              <form onSubmit={save}>
                <TextArea
                  label="Note"
                  value={editing.content}
                  onInput={(changed) => setEditing({ id, content: changed })}
                />
                <p class="row">
                  <Button look="primary" type="submit" busy={busy}>
                    Save
                  </Button>
                  <Button look="quiet" onClick={() => setEditing(null)}>
                    Cancel
                  </Button>
                </p>
              </form>
            ) : (
              <>
                <p class="lines">{content}</p>
                <p class="row">
                  <small>
                    {created_by} · {localTime(created)}
                  </small>
                  {row.mayChange && (
                    <>
                      <Button look="quiet" onClick={() => setEditing({ id, content })}>
                        Edit<span class="unseen"> the note</span>
                      </Button>
                      <Button look="quiet" onClick={() => void remove(id)}>
                        Delete<span class="unseen"> the note</span>
                      </Button>
                    </>
                  )}
                </p>
              </>
            )}
          </li>
        ))}
      </ul>
      {row.mayChange && !editing && (
        <form onSubmit={save}>
          <TextArea label="New note" value={text} rows={2} onInput={setText} />
          <Button type="submit" busy={busy} disabled={text.trim() === ""}>
            Add the note
          </Button>
        </form>
      )}
    </>
  );
}

interface Attached {
  id: string;
  name: string;
  size: number;
  created: string;
  created_by: string;
}

export function Files({ of, row, onChanged }: Part) {
  const [app, model] = of.model.split(".");
  const query = { app, model, object_id: row.id };
  const files = useLoaded(row.id, (signal) => get<Attached[]>("/api/v2/attachments/", query, signal));
  const [busy, setBusy] = useState(false);
  const again = (): void => {
    files.reload();
    onChanged();
  };
  const chosen = useRef<HTMLInputElement>(null);
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    for (const file of chosen.current?.files ?? []) {
      const body = new FormData();
      body.append("file", file);
      const add = () => send("POST", "/api/v2/attachments/", { query, body });
      await attempt(add, `${file.name} added.`, again);
    }
    if (chosen.current) chosen.current.value = "";
    setBusy(false);
  };
  const remove = ({ id, name }: Attached): Promise<boolean> =>
    attempt(() => send("DELETE", `/api/v2/attachments/${id}/`), `${name} deleted.`, again);
  if (!files.value && files.error) return <ErrorBanner error={files.error} retry={files.reload} />;
  return (
    <>
      {files.value?.length === 0 && <p class="muted">None.</p>}
      <ul class="bare">
        {files.value?.map((file) => (
          <li key={file.id} class="row">
            <a href={href(`/api/v2/attachments/${file.id}/`)} download={file.name}>
              {file.name}
            </a>
            <small>
              {sizeOf(file.size)} · {file.created_by} · {localTime(file.created)}
            </small>
            {row.mayChange && (
              <Button look="quiet" onClick={() => void remove(file)}>
                Delete<span class="unseen"> {file.name}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
      {row.mayChange && (
        <form class="row" onSubmit={add}>
          <label>
            <span class="unseen">Files to add</span>
            <input type="file" multiple required ref={chosen} />
          </label>
          <Button type="submit" busy={busy}>
            Add the files
          </Button>
        </form>
      )}
    </>
  );
}

/** Bytes for people. */
const sizeOf = (bytes: number): string =>
  bytes < 1000
    ? `${bytes} B`
    : bytes < 1e6
      ? `${Math.round(bytes / 1e3)} KB`
      : `${(bytes / 1e6).toFixed(1)} MB`;
