import { useState } from "preact/hooks";
import { NewPassword, useNewPassword } from "../account/new-password.tsx";
import { PersonFields, usePerson } from "../account/person-fields.tsx";
import { UsernameField } from "../account/username-field.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Checkbox, SelectField } from "../components/field.tsx";
import { useSubmission } from "../components/form.tsx";
import { requestJson } from "../request.ts";
import { SYSTEM_GROUP, type User, userPath } from "./people.ts";

/** Makes or changes an account. A new one gets its password by a link, or at once. */
export function UserDialog(props: {
  user: User | null;
  groups: readonly string[];
  onClose: () => void;
  onDone: (username: string, wantsLink: boolean) => void;
}) {
  const { user, groups, onClose, onDone } = props;
  const [username, setUsername] = useState(user?.username ?? "");
  const person = usePerson({ ...user });
  const [isAdmin, setAdmin] = useState(user?.is_superuser ?? false);
  const [primary, setPrimary] = useState(user?.primary_group.name ?? SYSTEM_GROUP);
  const [member, setMember] = useState(new Set(user?.groups.map(({ name }) => name) ?? []));
  const chosen = useNewPassword();
  const { submit, busy, fields, error } = useSubmission(async () => {
    const { password } = chosen;
    const body = {
      ...(user ? {} : { username }),
      ...person.body,
      is_superuser: isAdmin,
      primary_group: primary,
      groups: [...new Set([...member, primary])],
      ...(password === "" ? {} : { password }),
    };
    await (user
      ? requestJson("PATCH", userPath(user.username), { body })
      : requestJson("POST", "/api/v2/users/", { body }));
    showToast(user ? `${user.username} is changed.` : `${username} is added.`);
    onDone(username, user === null && password === "");
    return true;
  });
  const unplaced = Object.keys(fields).filter(
    (name) => !["username", "full_name", "email", "password", "primary_group", "groups"].includes(name),
  );
  return (
    <Dialog title={user ? `Change ${user.username}` : "Add somebody"} onClose={onClose}>
      {error !== null && (Object.keys(fields).length === 0 || unplaced.length > 0) && (
        <ErrorBanner error={error} />
      )}
      <form onSubmit={submit}>
        {!user && (
          <UsernameField
            label="Name to sign in with"
            hint="It stays as it is."
            value={username}
            onInput={setUsername}
            errors={fields.username}
            ofAnother
          />
        )}
        <PersonFields of={person} errors={fields} ofAnother />
        <SelectField
          label="Primary group"
          hint="It owns what the person makes."
          value={primary}
          choices={groups.map((name) => ({ value: name, name }))}
          onChange={setPrimary}
          errors={fields.primary_group}
        />
        <fieldset class="bare-set">
          <legend>Member of</legend>
          {groups.map((name) => (
            <Checkbox
              key={name}
              label={name}
              checked={name === primary || member.has(name)}
              disabled={name === primary}
              onChange={(on) =>
                setMember((before) => {
                  const after = new Set(before);
                  if (on) after.add(name);
                  else after.delete(name);
                  return after;
                })
              }
            />
          ))}
          {fields.groups && <p class="error">{fields.groups.join(" ")}</p>}
        </fieldset>
        <Checkbox label="Administrator: may do everything" checked={isAdmin} onChange={setAdmin} />
        <NewPassword
          chosen={chosen}
          label="Password"
          optional
          hint={
            user
              ? "Sets a new one and ends the sessions. A password link lets the person choose instead."
              : "Without one you get a link by which the person chooses it."
          }
          errors={fields.password}
        />
        <p class="actions">
          <Button look="primary" type="submit" busy={busy}>
            {user ? "Save" : "Add"}
          </Button>
          <Button onClick={onClose}>Leave it</Button>
        </p>
      </form>
    </Dialog>
  );
}
