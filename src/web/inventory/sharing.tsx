import { useState } from "preact/hooks";
import type { Grants } from "../../inventory/api/route-sharing.ts";
import { Button, IconButton } from "../components/button.tsx";
import { Checkbox, Select, SelectField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { KeyValues } from "../components/layout.tsx";
import { Loaded } from "../components/loaded.tsx";
import { api } from "./declaration.ts";
import { Picker } from "./picker.tsx";
import { useSubResource } from "./sub-resource.ts";

/** Permissions of users and groups on records. */

type Rights = Pick<Grants["users"][number], Level>;
type Kind = "user" | "group";
type Level = "view" | "change" | "delete";

const LEVELS: readonly { value: Level; name: string }[] = [
  { value: "view", name: "Can view" },
  { value: "change", name: "Can edit" },
  { value: "delete", name: "Can edit and delete" },
];
const levelOf = (rights: Rights): Level => (rights.delete ? "delete" : rights.change ? "change" : "view");

/** The body of a request that gives one user or group a permission; null removes it. */
export const shareRequest = (kind: Kind, name: string, level: Level | null): object => ({
  [`${kind}s`]: [
    {
      [kind]: name,
      view: level !== null,
      change: level === "change" || level === "delete",
      delete: level === "delete",
    },
  ],
});

/** Chooses a user or group and a permission. */
export function ShareForm(props: {
  submit: string;
  onShare: (kind: Kind, name: string, level: Level) => Promise<void>;
}) {
  const [kind, setKind] = useState<Kind>("group");
  const [name, setName] = useState("");
  const [level, setLevel] = useState<Level>("view");
  const form = useSubmission(async () => {
    if (name !== "") await props.onShare(kind, name, level);
    setName("");
  });
  return (
    <form class="form-inline share-form" onSubmit={form.submit}>
      <SelectField<Kind>
        label="Share with"
        value={kind}
        choices={[
          { value: "group", name: "Group" },
          { value: "user", name: "Person" },
        ]}
        onChange={(chosen) => {
          setKind(chosen);
          setName("");
        }}
      />
      <Picker
        key={kind}
        label={kind === "group" ? "Group" : "Person"}
        to={{ segment: `${kind}s`, key: kind === "group" ? "name" : "username", printed: "key" }}
        value={name}
        onChoose={setName}
      />
      <SelectField label="Permission" value={level} choices={LEVELS} onChange={setLevel} />
      <Button type="submit" busy={form.busy} disabled={name === ""}>
        {props.submit}
      </Button>
      <FormError of={form} shown={[]} />
    </form>
  );
}

/** The permissions of one record, for people who may change it. */
export function SharingOf(props: { segment: string; id: string; onChanged: () => void }) {
  const { segment, id, onChanged } = props;
  const access = useSubResource<Grants>(api(segment, `${id}/permissions/`), onChanged);
  const change = (body: object, done: string): Promise<void> =>
    access.change("PATCH", "", done, body, (_before, now: Grants) => now);
  return (
    <Loaded of={access.loaded}>
      {({ owner, owned_by, public: isPublic, groups, users }) => (
        <>
          <KeyValues
            of={[
              ["Owner", owner],
              ["Group", segment === "views" ? null : owned_by],
            ]}
          />
          <Checkbox
            label="Everyone can view"
            checked={isPublic}
            onChange={(on) => void change({ public: on }, on ? "Everyone can view it." : "No longer public.")}
          />
          <ul class="shares">
            {groups.map((rights) => (
              <Share key={rights.id} kind="group" title="group" {...{ rights, change }} name={rights.name} />
            ))}
            {users.map(({ username, full_name, ...rights }) => (
              <Share key={username} kind="user" title={full_name} {...{ rights, change }} name={username} />
            ))}
          </ul>
          <ShareForm
            submit="Share"
            onShare={(kind, name, level) => change(shareRequest(kind, name, level), `Shared with ${name}.`)}
          />
        </>
      )}
    </Loaded>
  );
}

function Share(props: {
  kind: Kind;
  name: string;
  title: string;
  rights: Rights;
  change: (body: object, done: string) => Promise<void>;
}) {
  const { kind, name, title, rights, change } = props;
  return (
    <li class="row">
      <span class="grow">
        {name} <small>{title}</small>
      </span>
      <Select
        small
        label={`Permission of ${name}`}
        value={levelOf(rights)}
        choices={LEVELS.map((level) => [level.value, level.name])}
        onChange={(level) =>
          void change(shareRequest(kind, name, level as Level), `Changed the permission of ${name}.`)
        }
      />
      <IconButton
        icon="x"
        label={`Remove ${name}`}
        onClick={() => void change(shareRequest(kind, name, null), `Removed ${name}.`)}
      />
    </li>
  );
}
