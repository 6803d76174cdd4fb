import { useState } from "preact/hooks";
import { IconButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Time } from "../format.tsx";
import { callForResponse } from "../request.ts";
import { deletePart, readParts, readRows } from "./read-list.ts";
import { Person } from "./record.tsx";
import { type SubResourceProps, useSubResource } from "./sub-resource.ts";
import { showDone } from "./write-record.ts";

interface Note {
  id: string;
  content: string;
  created: string;
  created_by: string;
}

export function Notes({ of, row, onChanged }: SubResourceProps) {
  const params = { list: of.name, id: row.id, part: "notes" };
  const {
    loaded: notes,
    reload,
    change,
  } = useSubResource(`notes of ${row.id}`, (signal) => readParts<Note>(params, {}, signal), onChanged);
  const [editing, setEditing] = useState<string | null>(null);
  const save = async (id: string | null, content: string): Promise<void> => {
    const body = { content };
    const response = await (id === null
      ? callForResponse("POST /api/v2/:list/:id/:part/", { params, body })
      : callForResponse("PATCH /api/v2/:list/:id/:part/:sub_id/", {
          params: { ...params, sub_id: id },
          body,
        }));
    const [saved] = readRows<Note>([await response.json()]);
    notes.update((all) =>
      id === null ? [...all, saved] : all.map((note) => (note.id === id ? saved : note)),
    );
    setEditing(null);
    showDone(id === null ? "Note added." : "Note changed.", response, reload);
    onChanged();
  };
  return (
    <Card title="Notes" count={notes.value?.length}>
      <Loaded of={notes}>
        {(results) => (
          <>
            {results.map((note) =>
              editing === note.id ? (
                <NoteForm
                  key={note.id}
                  label="Edit note"
                  content={note.content}
                  submit="Save"
                  onSubmit={(content) => save(note.id, content)}
                  onCancel={() => setEditing(null)}
                />
              ) : (
                <div key={note.id} class="note">
                  <p class="lines">{note.content}</p>
                  <div class="row">
                    <small class="grow">
                      <Person username={note.created_by} />, <Time at={note.created} />
                    </small>
                    {row.mayChange && (
                      <>
                        <IconButton icon="pencil" label="Edit the note" onClick={() => setEditing(note.id)} />
                        <IconButton
                          icon="trash-2"
                          label="Delete the note"
                          onClick={() => void change(() => deletePart(params, note.id), "Note deleted.")}
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
                  onSubmit={(content) => save(null, content)}
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
