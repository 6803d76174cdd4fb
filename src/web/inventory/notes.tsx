import { useState } from "preact/hooks";
import { IconButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Time } from "../format.tsx";
import { send } from "../request.ts";
import { api } from "./declaration.ts";
import { type SubResourceProps, useSubResource } from "./sub-resource.ts";
import { showDone } from "./write-record.ts";

interface Note {
  id: string;
  content: string;
  created: string;
  created_by: string;
}

export function Notes({ of, row, onChanged }: SubResourceProps) {
  const path = api(of.name, `${row.id}/notes/`);
  const { loaded: notes, reload, change } = useSubResource<{ results: Note[] }>(path, onChanged);
  const [editing, setEditing] = useState<string | null>(null);
  const save = async (method: "POST" | "PATCH", id: string | null, content: string): Promise<void> => {
    const response = await send(method, id === null ? path : `${path}${id}/`, { body: { content } });
    const saved = (await response.json()) as Note;
    notes.update(({ results }) => ({
      results: id === null ? [...results, saved] : results.map((note) => (note.id === id ? saved : note)),
    }));
    setEditing(null);
    showDone(id === null ? "Note added." : "Note changed.", response, reload);
    onChanged();
  };
  return (
    <Card title="Notes" count={notes.value?.results.length}>
      <Loaded of={notes}>
        {({ results }) => (
          <>
            {results.map((note) =>
              editing === note.id ? (
                <NoteForm
                  key={note.id}
                  label="Edit note"
                  content={note.content}
                  submit="Save"
                  onSubmit={(content) => save("PATCH", note.id, content)}
                  onCancel={() => setEditing(null)}
                />
              ) : (
                <div key={note.id} class="note">
                  <p class="lines">{note.content}</p>
                  <div class="row">
                    <small class="grow">
                      {note.created_by}, <Time at={note.created} />
                    </small>
                    {row.mayChange && (
                      <>
                        <IconButton icon="pencil" label="Edit the note" onClick={() => setEditing(note.id)} />
                        <IconButton
                          icon="trash-2"
                          label="Delete the note"
                          onClick={() => void change("DELETE", `${note.id}/`, "Note deleted.")}
                        />
                      </>
                    )}
                  </div>
                </div>
              ),
            )}
            {row.mayChange && (
              <div class="new-note">
                <NoteForm
                  label="New note"
                  content=""
                  submit="Add note"
                  onSubmit={(content) => save("POST", null, content)}
                />
              </div>
            )}
            {!row.mayChange && results.length === 0 && <p class="muted">None</p>}
          </>
        )}
      </Loaded>
    </Card>
  );
}

const NoteForm = (props: {
  label: string;
  content: string;
  submit: string;
  onSubmit: (content: string) => Promise<void>;
  onCancel?: () => void;
}) => (
  <Form
    {...props}
    fields={[{ name: "content", label: props.label, hideLabel: true, placeholder: "Write a note", rows: 2 }]}
    initial={{ content: props.content }}
    look="plain"
    reset
    onSubmit={({ content }) => props.onSubmit(content)}
  />
);
