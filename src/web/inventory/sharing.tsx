import { useState } from "preact/hooks";
import type { Grants } from "../../inventory/api/route-sharing.ts";
import { Button, IconButton } from "../components/button.tsx";
import { Combobox } from "../components/combobox.tsx";
import { Checkbox, Select, SelectField } from "../components/field.tsx";
import { capitalized } from "../format.tsx";
import { groupTitle } from "../../platform/words.ts";
import { FormError, useSubmission } from "../components/form.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Avatar, Card, KeyValues } from "../components/layout.tsx";
import { Loaded } from "../components/loaded.tsx";
import { call, callForResponse, type CallOptions } from "../request.ts";
import { type Declaration, GROUPS_OF_USERS, USERS } from "./declaration.ts";
import { searchRecords } from "./picker.tsx";
import { formatText, recordName, type Row } from "./record.tsx";
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
const highestLevel = (rights: Partial<Record<Level, unknown>>): Level =>
  rights.delete ? "delete" : rights.change ? "change" : "view";

/** Rights on a record in words. */
export const levelName = (rights: Parameters<typeof highestLevel>[0]): string =>
  LEVELS.find(({ value }) => value === highestLevel(rights))!.name;

/** The body of a request that gives one user or group a permission; null removes it. */
/** Permissions to give or take. */
export type GrantChanges = CallOptions<"PATCH /api/v2/:list/:id/permissions/">["body"];

export const shareRequest = (kind: Kind, name: string, level: Level | null): GrantChanges => ({
  [`${kind}s`]: [
    {
      [kind]: name,
      view: level !== null,
      change: level === "change" || level === "delete",
      delete: level === "delete",
    },
  ],
});

interface Grantee {
  kind: Kind;
  name: string;
  /** The full name of a person. */
  title: string;
}

async function searchGrantees(text: string, signal: AbortSignal): Promise<Grantee[]> {
  const [groups, people] = await Promise.all(
    [GROUPS_OF_USERS, USERS].map((to) => searchRecords(to, text, signal)),
  );
  return [
    ...groups.map(({ name }): Grantee => ({ kind: "group", name, title: "group" })),
    ...people.map(({ name, context }): Grantee => ({ kind: "user", name, title: context })),
  ];
}

/** Chooses a user or group and a permission. */
export function ShareForm(props: {
  submit: string;
  onShare: (kind: Kind, name: string, level: Level) => Promise<void>;
}) {
  const [grantee, setGrantee] = useState<Grantee | null>(null);
  const [level, setLevel] = useState<Level>("view");
  const form = useSubmission(async () => {
    if (grantee) await props.onShare(grantee.kind, grantee.name, level);
    setGrantee(null);
  });
  return (
    <form class="form-inline share-form" onSubmit={form.submit}>
      <Combobox<Grantee>
        label="Person or group"
        placeholder="Type part of the name"
        shown={groupTitle(grantee?.name ?? "")}
        search={async (text, signal) => ({ options: await searchGrantees(text, signal) })}
        optionKey={({ kind, name }) => `${kind} ${name}`}
        chooseOnLeave={(typed, found) => found.find(({ name }) => name.toLowerCase() === typed.toLowerCase())}
        onChoose={setGrantee}
      >
        {({ name, title }) => (
          <>
            {groupTitle(name)} <small>{title}</small>
          </>
        )}
      </Combobox>
      <SelectField label="Permission" value={level} choices={LEVELS} onChange={setLevel} />
      <Button type="submit" busy={form.busy} disabled={grantee === null}>
        {props.submit}
      </Button>
      <FormError of={form} shown={[]} />
    </form>
  );
}

interface AccessProps {
  of: Declaration;
  row: Row;
  onChanged: () => void;
}

interface AccessCardProps extends AccessProps {
  isSharing: boolean;
  onShare: (on: boolean) => void;
}

/** The people who can see a record. A dialog shares the record, for people who may change it. */
export const AccessCard = (props: AccessCardProps) =>
  props.row.mayChange ? (
    <SharedAccess {...props} />
  ) : (
    <Card title="Access">
      <Access {...props} />
    </Card>
  );

function SharedAccess(props: AccessCardProps) {
  const { of, row, isSharing, onChanged, onShare } = props;
  const params = { list: of.name, id: row.id };
  const grants = useSubResource<Grants>(
    `grants of ${row.id}`,
    (signal) => call("GET /api/v2/:list/:id/permissions/", { params, signal }),
    onChanged,
  );
  return (
    <Card
      title="Access"
      actions={
        <Button look="quiet" small icon="share-2" onClick={() => onShare(true)}>
          Share
        </Button>
      }
    >
      <Access of={of} row={row} grants={grants.loaded.value} />
      {isSharing && <SharingDialog of={of} row={row} access={grants} onClose={() => onShare(false)} />}
    </Card>
  );
}

/** Access in words; only users who may change the record see with whom it is shared. */
function Access({ of, row, grants }: { of: Declaration; row: Row; grants?: Grants | undefined }) {
  const { owner, owned_by, public: isPublic } = row.values;
  const own = of.name === "views" ? [] : [formatText(owned_by)];
  const shared = (right: Level): string[] => [
    ...(grants?.groups.flatMap((each) => (each[right] ? groupTitle(each.name) : [])) ?? []),
    ...(grants?.users.flatMap((each) => (each[right] ? each.full_name || each.username : [])) ?? []),
  ];
  const viewers = grants ? shared("view").join(", ") : "those it is shared with";
  return (
    <KeyValues
      of={[
        ["Owner", formatText(owner)],
        ["Group", own.join()],
        [
          "Can view",
          (grants?.public ?? isPublic) === true
            ? "Everyone"
            : capitalized([...own, viewers].filter(Boolean).join(", ")),
        ],
        ["Can edit", grants && [formatText(owner), ...shared("change")].join(", ")],
      ]}
    />
  );
}

/** Lists the people who can see a record, and shares it with others. */
function SharingDialog(props: {
  of: Declaration;
  row: Row;
  access: ReturnType<typeof useSubResource<Grants>>;
  onClose: () => void;
}) {
  const { of, row, access, onClose } = props;
  const change = (body: GrantChanges, done: string): Promise<void> =>
    access.change(
      () =>
        callForResponse("PATCH /api/v2/:list/:id/permissions/", {
          params: { list: of.name, id: row.id },
          body,
        }),
      done,
      (_before, now) => now,
    );
  return (
    <Dialog title={`Share ${recordName(of, row)}`} onClose={onClose} wide>
      <ShareForm
        submit="Share"
        onShare={(kind, name, level) =>
          change(shareRequest(kind, name, level), `Shared with ${groupTitle(name)}.`)
        }
      />
      <Loaded of={access.loaded}>
        {({ owned_by, public: isPublic, groups, users }) => (
          <>
            <h3>Who can see it now</h3>
            <ul class="shares">
              <Standing name={formatText(row.values.owner)} title="owner" may="Can edit and delete" />
              {of.name !== "views" && (
                <Standing
                  name={groupTitle(owned_by)}
                  title="group of the record"
                  may="Can view; more if the group says so"
                />
              )}
              {groups.map((rights) => (
                <Share
                  key={rights.id}
                  kind="group"
                  title="group"
                  {...{ rights, change }}
                  name={rights.name}
                />
              ))}
              {users.map(({ username, full_name, ...rights }) => (
                <Share key={username} kind="user" title={full_name} {...{ rights, change }} name={username} />
              ))}
              <Standing name="Administrators" title="" may="Can edit and delete" />
            </ul>
            <Checkbox
              label="Everyone can view"
              checked={isPublic}
              onChange={(on) =>
                void change({ public: on }, on ? "Everyone can view it." : "No longer public.")
              }
            />
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

/** A right that sharing does not change. */
const Standing = ({ name, title, may }: { name: string; title: string; may: string }) => (
  <li class="row">
    <Avatar name={name} />
    <span class="grow">
      {name} <small>{title}</small>
    </span>
    <span class="muted">{may}</span>
  </li>
);

function Share(props: {
  kind: Kind;
  name: string;
  title: string;
  rights: Rights;
  change: (body: GrantChanges, done: string) => Promise<void>;
}) {
  const { kind, name, title, rights, change } = props;
  return (
    <li class="row">
      <Avatar name={name} />
      <span class="grow">
        {groupTitle(name)} <small>{title}</small>
      </span>
      <Select
        small
        label={`Permission of ${groupTitle(name)}`}
        value={highestLevel(rights)}
        choices={LEVELS.map((level) => [level.value, level.name])}
        onChange={(level) =>
          void change(
            shareRequest(kind, name, level as Level),
            `Changed the permission of ${groupTitle(name)}.`,
          )
        }
      />
      <IconButton
        icon="x"
        label={`Stop sharing with ${groupTitle(name)}`}
        onClick={() =>
          void change(shareRequest(kind, name, null), `No longer shared with ${groupTitle(name)}.`)
        }
      />
    </li>
  );
}
