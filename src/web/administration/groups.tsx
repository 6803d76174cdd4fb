import { useState } from "preact/hooks";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox, TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Table } from "../components/table.tsx";
import { requestJson } from "../request.ts";
import type { Question } from "../components/confirm.tsx";
import { type Group, groupPath, SYSTEM_GROUP, type User } from "./people.ts";

/** Groups and who is in them. */
export function Groups(props: {
  groups: readonly Group[];
  users: readonly User[];
  onDone: () => void;
  ask: (question: Question) => void;
}) {
  const { groups, users, onDone } = props;
  const [edited, setEdited] = useState<Group | "new" | null>(null);
  const membersOf = ({ name }: Group): string[] =>
    users.filter((user) => user.groups.some((group) => group.name === name)).map(({ username }) => username);
  return (
    <section aria-labelledby="groups">
      <div class="row between">
        <h2 id="groups">Groups</h2>
        <Button onClick={() => setEdited("new")}>Add a group</Button>
      </div>
      <Table
        caption="All groups"
        rows={groups}
        keyOf={({ id }) => id}
        columns={[
          { name: "name", title: "Name", heading: true, cell: (row) => row.name },
          { name: "description", title: "What it is", cell: (row) => row.description || "–" },
          { name: "members", title: "Members", cell: (row) => membersOf(row).join(", ") || "nobody" },
          {
            name: "actions",
            title: <span class="unseen">What can be done</span>,
            cell: (row) => (
              <span class="row">
                <Button look="quiet" aria-label={`Change ${row.name}`} onClick={() => setEdited(row)}>
                  Change
                </Button>
                {row.name !== SYSTEM_GROUP && (
                  <Button
                    look="quiet"
                    aria-label={`Remove ${row.name}`}
                    onClick={() =>
                      props.ask({
                        title: `Remove ${row.name}?`,
                        text: "Rights that were given to it go with it. A group that owns records stays.",
                        verb: "Remove",
                        run: () => requestJson("DELETE", groupPath(row.name)),
                        done: `${row.name} is removed.`,
                      })
                    }
                  >
                    Remove
                  </Button>
                )}
              </span>
            ),
          },
        ]}
      />
      {edited !== null && (
        <GroupDialog
          group={edited === "new" ? null : edited}
          users={users}
          members={edited === "new" ? [] : membersOf(edited)}
          onClose={() => setEdited(null)}
          onDone={() => {
            setEdited(null);
            onDone();
          }}
        />
      )}
    </section>
  );
}

function GroupDialog(props: {
  group: Group | null;
  users: readonly User[];
  members: readonly string[];
  onClose: () => void;
  onDone: () => void;
}) {
  const { group, users, onClose, onDone } = props;
  const [name, setName] = useState(group?.name ?? "");
  const [description, setDescription] = useState(group?.description ?? "");
  const [members, setMembers] = useState(new Set(props.members));
  const isSystem = group?.name === SYSTEM_GROUP;
  const form = useSubmission(async () => {
    // The account of the program is in its group and is not shown.
    const body = { name, description, members: [...members, ...(isSystem ? ["system"] : [])] };
    await (group
      ? requestJson("PATCH", groupPath(group.name), { body })
      : requestJson("POST", "/api/v2/groups/", { body }));
    showToast(group ? `${name} is changed.` : `${name} is added.`);
    onDone();
    return true;
  });
  return (
    <Dialog title={group ? `Change ${group.name}` : "Add a group"} onClose={onClose}>
      <FormError of={form} />
      <form onSubmit={form.submit}>
        <TextField
          label="Group name"
          required
          maxLength={150}
          disabled={isSystem}
          value={name}
          onInput={setName}
          errors={form.fields.name}
        />
        <TextField
          label="What it is"
          optional
          value={description}
          onInput={setDescription}
          errors={form.fields.description}
        />
        <fieldset class="bare-set">
          <legend>Members</legend>
          {users.map(({ username, full_name, primary_group }) => (
            <Checkbox
              key={username}
              label={full_name === "" ? username : `${username}, ${full_name}`}
              checked={members.has(username)}
              // Nobody leaves the own primary group.
              disabled={primary_group.name === group?.name}
              onChange={(on) =>
                setMembers((before) => {
                  const after = new Set(before);
                  if (on) after.add(username);
                  else after.delete(username);
                  return after;
                })
              }
            />
          ))}
          {form.fields.members && <p class="error">{form.fields.members.join(" ")}</p>}
        </fieldset>
        <p class="actions">
          <Button look="primary" type="submit" busy={form.busy}>
            {group ? "Save" : "Add"}
          </Button>
          <Button onClick={onClose}>Leave it</Button>
        </p>
      </form>
    </Dialog>
  );
}
