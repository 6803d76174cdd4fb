import { useState } from "preact/hooks";
import { useLoaded } from "../components/loaded.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Checkbox, SelectField } from "../components/field.tsx";
import { showToast } from "../components/toast.tsx";
import { get, send } from "../request.ts";
import { api } from "./declaration.ts";
import { Picker } from "./picker.tsx";
import { announceDone } from "./write-record.ts";

/** Who has which rights on a record, and how to give and take them. */

type Rights = { view: boolean; change: boolean; delete: boolean };
export interface Sharing {
  owner: string;
  owned_by: string;
  public: boolean;
  users: (Rights & { username: string; full_name: string })[];
  groups: (Rights & { name: string })[];
}
export type Whom = "user" | "group";
type Level = "view" | "change" | "delete";

const LEVELS = [
  { value: "view", name: "may view" },
  { value: "change", name: "may view and change" },
  { value: "delete", name: "may view, change and delete" },
] as const;
const rightsOf = (level: Level | null): Rights => ({
  view: level !== null,
  change: level === "change" || level === "delete",
  delete: level === "delete",
});
const levelOf = (rights: Rights): Level => (rights.delete ? "delete" : rights.change ? "change" : "view");

/** What a request to share says. */
export const wishOf = (whom: Whom, name: string, level: Level | null): object => ({
  [`${whom}s`]: [{ [whom]: name, ...rightsOf(level) }],
});

/** Chooses who gets which right. */
export function ShareForm(props: {
  busy: boolean;
  label: string;
  onShare: (whom: Whom, name: string, level: Level) => void;
}) {
  const [whom, setWhom] = useState<Whom>("group");
  const [name, setName] = useState("");
  const [level, setLevel] = useState<Level>("view");
  return (
    <form
      class="share-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (name === "") return;
        props.onShare(whom, name, level);
        setName("");
      }}
    >
      <SelectField
        label="With"
        value={whom}
        choices={[
          { value: "group", name: "a group" },
          { value: "user", name: "a person" },
        ]}
        onChange={(chosen) => {
          setWhom(chosen);
          setName("");
        }}
      />
      <Picker
        key={whom}
        label={whom === "group" ? "Group" : "Person"}
        to={{ segment: `${whom}s`, key: whom === "group" ? "name" : "username", printed: "key" }}
        value={name}
        onChoose={setName}
      />
      <SelectField label="Right" value={level} choices={LEVELS} onChange={setLevel} />
      <Button look="primary" type="submit" busy={props.busy} disabled={name === ""}>
        {props.label}
      </Button>
    </form>
  );
}

/** Sharing of one record, for those who may change it. */
export function SharingOf(props: { segment: string; id: string; onChanged: () => void }) {
  const { segment, id, onChanged } = props;
  const path = api(segment, `${id}/permissions/`);
  const { value, error, reload } = useLoaded(path, (signal) => get<Sharing>(path, {}, signal));
  const [busy, setBusy] = useState(false);
  const change = async (wish: object, done: string): Promise<void> => {
    setBusy(true);
    try {
      const response = await send("PATCH", path, { body: wish });
      const again = (): void => {
        reload();
        onChanged();
      };
      announceDone(done, response.headers.get("Batch-Id"), again);
      again();
    } catch (problem) {
      showToast((problem as Error).message, "error");
    }
    setBusy(false);
  };
  if (!value) return error ? <ErrorBanner error={error} retry={reload} /> : <p class="muted">…</p>;
  const entries = [
    ...value.groups.map((each) => ({
      whom: "group" as const,
      name: each.name,
      title: each.name,
      rights: each,
    })),
    ...value.users.map((each) => ({
      whom: "user" as const,
      name: each.username,
      title: each.full_name ? `${each.username} (${each.full_name})` : each.username,
      rights: each,
    })),
  ];
  return (
    <>
      <p>
        Belongs to <strong>{value.owner}</strong>
        {segment !== "views" && (
          <>
            {" "}
            and is seen by the group <strong>{value.owned_by}</strong>
          </>
        )}
        .
      </p>
      <Checkbox
        label="Everyone may view it"
        checked={value.public}
        onChange={(on) =>
          void change({ public: on }, on ? "Everyone may view it now." : "Not public any more.")
        }
      />
      {entries.length > 0 && (
        <ul class="bare shares">
          {entries.map(({ whom, name, title, rights }) => (
            <li key={`${whom} ${name}`} class="row">
              <span>
                {whom === "group" ? "Group" : "Person"} <strong>{title}</strong>
              </span>
              <select
                aria-label={`What ${name} may do`}
                value={levelOf(rights)}
                onChange={(event) =>
                  void change(
                    wishOf(whom, name, event.currentTarget.value as Level),
                    `${name} ${LEVELS.find(({ value: each }) => each === event.currentTarget.value)?.name}.`,
                  )
                }
              >
                {LEVELS.map((level) => (
                  <option key={level.value} value={level.value}>
                    {level.name}
                  </option>
                ))}
              </select>
              <Button
                look="quiet"
                aria-label={`Take away the rights of ${name}`}
                onClick={() =>
                  void change(wishOf(whom, name, null), `${name} has no rights of its own any more.`)
                }
              >
                Take away
              </Button>
            </li>
          ))}
        </ul>
      )}
      <ShareForm
        busy={busy}
        label="Share"
        onShare={(whom, name, level) => void change(wishOf(whom, name, level), `Shared with ${name}.`)}
      />
    </>
  );
}
