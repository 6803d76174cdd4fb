import { groupTitle } from "../../platform/words.ts";
import { passwordField, personBody, personFields, usernameField } from "../account/fields.tsx";
import { FormDialog } from "../components/form.tsx";
import { showToast } from "../components/toast.tsx";
import { readRows } from "../inventory/read-list.ts";
import { call } from "../request.ts";
import { type People, SYSTEM_GROUP, type User } from "./people.ts";

const initialValues = (user: User | null) => ({
  username: user?.username ?? "",
  full_name: user?.full_name ?? "",
  email: user?.email ?? "",
  primary_group: user?.primary_group.name ?? SYSTEM_GROUP,
  groups: user?.groups.map(({ name }) => name) ?? [],
  is_superuser: user?.is_superuser ?? false,
  password: "",
});

/** Adds or edits an account. A new one without a password gets a link to choose one. */
export function UserDialog(props: {
  user: User | null;
  people: People;
  onClose: () => void;
  onSaved: (user: User, needsLink: boolean) => void;
}) {
  const { user, people, onClose, onSaved } = props;
  const groups = people.groups.map(({ name }) => ({ value: name, name: groupTitle(name) }));
  return (
    <FormDialog
      title={user ? `Edit ${user.username}` : "Add user"}
      submit={user ? "Save" : "Add user"}
      onClose={onClose}
      initial={initialValues(user)}
      fields={[
        ...(user ? [] : [{ ...usernameField("off"), hint: "The username cannot be changed later." }]),
        ...personFields("off"),
        {
          name: "primary_group",
          label: "Primary group",
          hint: "Members of the group can view the records that the person creates, and use or edit them if the group says so.",
          kind: "select",
          choices: groups,
        },
        { name: "groups", label: "Groups", kind: "checklist", choices: groups },
        { name: "is_superuser", label: "Administrator with all permissions", kind: "checkbox" },
        {
          ...passwordField("Password"),
          optional: true,
          hint: user
            ? "Replaces the password and ends all sessions."
            : "Leave it empty to create a link with which the person sets a password.",
        },
      ]}
      onSubmit={async ({ username, password, full_name, email, ...values }) => {
        const body = {
          ...values,
          groups: [...new Set([...values.groups, values.primary_group])],
          ...personBody({ full_name, email }, Boolean(user?.email)),
          ...(user ? {} : { username }),
          ...(password === "" ? {} : { password }),
        };
        const saved = await (user
          ? call("PATCH /api/v2/:list/:id/", { params: { list: "users", id: user.username }, body })
          : call("POST /api/v2/:list/", { params: { list: "users" }, body }));
        showToast(user ? `Saved ${user.username}.` : `Added ${username}.`);
        onSaved(readRows<User>([saved])[0], user === null && password === "");
      }}
    />
  );
}
