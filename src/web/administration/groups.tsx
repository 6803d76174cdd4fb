import { Button } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { FormDialog } from "../components/form.tsx";
import { Card } from "../components/layout.tsx";
import { Table } from "../components/table.tsx";
import { showToast } from "../components/toast.tsx";
import { groupTitle } from "../../platform/words.ts";
import { call } from "../request.ts";
import type { AdministrationContext } from "./page.tsx";
import { type Group, listMembers, type People, SYSTEM_GROUP, withSystemUser } from "./people.ts";

/** Groups and their members. */
export function Groups({ page }: { page: AdministrationContext<People> }) {
  const { data, open, reload } = page;
  const edit = (group: Group | null): void =>
    open((close) => <GroupDialog people={data} group={group} onClose={close} onSaved={reload} />);
  const remove = ({ name }: Group): void =>
    confirm({
      title: `Delete ${name}?`,
      text: "Permissions granted to the group end with it. A group that owns records cannot be deleted.",
      verb: "Delete group",
      run: () => call("DELETE /api/v2/:list/:id/", { params: { list: "groups", id: name } }).then(reload),
      done: `Deleted ${name}.`,
    });
  return (
    <Card
      title="Groups"
      bare
      actions={
        <Button small icon="plus" onClick={() => edit(null)}>
          Add group
        </Button>
      }
    >
      <Table
        caption="All groups"
        rows={data.groups}
        rowKey={({ id }) => id}
        columns={[
          { name: "name", title: "Name", heading: true, cell: ({ name }) => groupTitle(name) },
          { name: "description", title: "Description", cell: ({ description }) => description || "–" },
          {
            name: "members",
            title: "Members",
            cell: (group) =>
              listMembers(data, group.name)
                .map((person) => person.full_name || person.username)
                .join(", ") || "–",
          },
        ]}
        actions={(group) => (
          <>
            <Button
              look="quiet"
              small
              aria-label={`Edit: ${groupTitle(group.name)}`}
              onClick={() => edit(group)}
            >
              Edit
            </Button>
            {group.name !== SYSTEM_GROUP && (
              <Button look="quiet" small aria-label={`Delete: ${group.name}`} onClick={() => remove(group)}>
                Delete
              </Button>
            )}
          </>
        )}
      />
    </Card>
  );
}

const memberChoices = ({ results }: People, group: Group | null) =>
  results.map(({ username, full_name, primary_group }) => ({
    value: username,
    name: full_name === "" ? username : `${full_name} (${username})`,
    // Nobody leaves their primary group.
    fixed: primary_group.name === group?.name,
  }));

const NEW_GROUP = { name: "", description: "", members_may: "use", members_order: false, due_back_days: 1 };

function GroupDialog(props: {
  people: People;
  group: Group | null;
  onClose: () => void;
  onSaved: () => void;
}) {
  const { people, group, onClose, onSaved } = props;
  const { name, description, members_may, members_order, due_back_days } = group ?? NEW_GROUP;
  return (
    <FormDialog
      title={group ? `Edit ${groupTitle(group.name)}` : "Add group"}
      submit={group ? "Save" : "Add group"}
      onClose={onClose}
      initial={{
        name,
        description,
        members_may,
        members_order,
        due_back_days: String(due_back_days),
        members: group ? listMembers(people, group.name).map(({ username }) => username) : [],
      }}
      fields={[
        ...(group?.name === SYSTEM_GROUP
          ? []
          : [{ name: "name", label: "Group name", maxLength: 150 } as const]),
        { name: "description", label: "Description", optional: true },
        {
          name: "members_may",
          label: "With each other’s records, members may",
          kind: "select",
          choices: [
            { value: "view", name: "view them" },
            { value: "use", name: "view and use them" },
            { value: "change", name: "view, use and edit them" },
          ],
          hint: "Use: take amounts, take out, put back and move.",
        },
        { name: "members_order", label: "Members may order", kind: "checkbox" },
        { name: "due_back_days", label: "Days until what is taken out is due back", type: "number", min: 1 },
        {
          name: "members",
          label: "Members",
          kind: "checklist",
          choices: memberChoices(people, group),
        },
      ]}
      onSubmit={async (values) => {
        const members = withSystemUser(values.name, values.members);
        const body = { ...values, due_back_days: Number(values.due_back_days), members };
        await (group
          ? call("PATCH /api/v2/:list/:id/", { params: { list: "groups", id: group.name }, body })
          : call("POST /api/v2/:list/", { params: { list: "groups" }, body }));
        showToast(group ? `Saved ${groupTitle(values.name)}.` : `Added ${values.name}.`);
        onSaved();
      }}
    />
  );
}
