import { Groups } from "../administration/groups.tsx";
import { IdentityDialog } from "../administration/identity-dialog.tsx";
import { type AdministrationContext, administrationPage } from "../administration/page.tsx";
import { loadPeople, type People, type Person, type User } from "../administration/people.ts";
import { UserDialog } from "../administration/user-dialog.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Tag } from "../components/layout.tsx";
import { OneTimeSecret } from "../components/one-time-secret.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatTime, Time } from "../format.tsx";
import { groupTitle } from "../../platform/words.ts";
import { call } from "../request.ts";

const ofUser = ({ username }: User) => ({ list: "users", id: username });

type PeoplePage = AdministrationContext<People>;

const showPasswordLink = (username: string, { open }: PeoplePage): Promise<void> =>
  withErrorToast(async () => {
    const link = await call("POST /api/admin/users/:username/password-link", { params: { username } });
    open((close) => (
      <Dialog title="Password link" onClose={close}>
        <OneTimeSecret
          label={`Link for ${username}`}
          value={link.url}
          note={`Send it to ${username} only: it sets the password of the account. It works once, until ${formatTime(link.expires)}.`}
        />
      </Dialog>
    ));
  });

const editUser = (user: User | null, page: PeoplePage): void =>
  page.open((close) => (
    <UserDialog
      user={user}
      people={page.data}
      onClose={close}
      onSaved={({ username }, needsLink) => {
        page.reload();
        if (needsLink) void showPasswordLink(username, page);
      }}
    />
  ));

const renderState = ({ is_superuser, hasSecondFactor, identities, is_active }: Person) => (
  <>
    {is_superuser && <Tag>administrator</Tag>} {hasSecondFactor && <Tag tone="ok">second factor</Tag>}{" "}
    {identities.map(({ provider }) => (
      <Tag key={provider}>{provider === "ldap" ? "directory" : "provider"}</Tag>
    ))}{" "}
    {!is_active && <Tag tone="warn">disabled</Tag>}
  </>
);

export const administrationUsersPage = administrationPage({
  section: "users",
  load: loadPeople,
  rowKey: ({ id }: Person) => id,
  rowName: ({ username }) => username,
  empty: { title: "No users", text: "Add the first one." },
  buttons: (page: PeoplePage) => (
    <Button look="primary" icon="plus" onClick={() => editUser(null, page)}>
      Add user
    </Button>
  ),
  below: (page) => <Groups page={page} />,
  columns: [
    {
      name: "username",
      title: "User",
      heading: true,
      cell: (person) => (
        <>
          {person.username} {renderState(person)}
        </>
      ),
    },
    { name: "full_name", title: "Name", cell: ({ full_name }) => full_name || "–" },
    { name: "email", title: "E-mail", cell: ({ email }) => email || "–" },
    {
      name: "groups",
      title: "Groups",
      cell: ({ groups }) => groups.map(({ name }) => groupTitle(name)).join(", "),
    },
    { name: "joined", title: "Since", cell: ({ date_joined }) => <Time at={date_joined} /> },
  ],
  actions: [
    { label: "Edit", run: editUser },
    {
      label: "Password link",
      inMenu: true,
      applies: ({ is_active }) => is_active,
      run: ({ username }, page) => showPasswordLink(username, page),
    },
    {
      label: "Sign-in methods",
      inMenu: true,
      applies: ({ identities }, { providers }) => providers.length + identities.length > 0,
      run: (person, { data: { providers }, open, reload }) =>
        open((close) => <IdentityDialog {...{ person, providers }} onClose={close} onDone={reload} />),
    },
    {
      label: "Reset second factor",
      inMenu: true,
      applies: ({ hasSecondFactor }) => hasSecondFactor,
      confirm: ({ username }) => ({
        title: `Reset the second factor of ${username}?`,
        text: `Make sure that the request comes from ${username}. All sessions end, and the password alone is enough to sign in until a new second factor is set up.`,
      }),
      run: async (person) => {
        const { username } = person;
        await call("DELETE /api/admin/users/:username/second-factor", { params: { username } });
        return { ...person, hasSecondFactor: false };
      },
      done: ({ username }) => `Reset the second factor of ${username}.`,
    },
    {
      label: "Disable account",
      inMenu: true,
      applies: ({ is_active }) => is_active,
      confirm: ({ username }) => ({
        title: `Disable ${username}?`,
        text: "Sessions end, and tokens stop working. Records are kept and still show their creator. You can enable the account again.",
      }),
      run: async (person) => {
        await call("DELETE /api/v2/:list/:id/", { params: ofUser(person) });
        return { ...person, is_active: false };
      },
      done: ({ username }) => `Disabled ${username}.`,
    },
    {
      label: "Enable account",
      inMenu: true,
      applies: ({ is_active }) => !is_active,
      confirm: ({ username }) => ({
        title: `Enable ${username}?`,
        text: "The password and tokens of the account work again.",
      }),
      run: async (person) => {
        const body = { is_active: true };
        return { ...person, ...(await call("PATCH /api/v2/:list/:id/", { params: ofUser(person), body })) };
      },
      done: ({ username }) => `Enabled ${username}.`,
    },
  ],
});
