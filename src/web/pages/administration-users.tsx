import { useState } from "preact/hooks";
import { Confirmation } from "../account/confirmation.tsx";
import { Confirm, type Question } from "../components/confirm.tsx";
import { Administration } from "../administration/frame.tsx";
import { Groups } from "../administration/groups.tsx";
import { IdentityDialog } from "../administration/identity-dialog.tsx";
import {
  type Group,
  type Identity,
  type Listed,
  type ProviderName,
  secondFactorPath,
  type User,
  userPath,
} from "../administration/people.ts";
import { Time } from "../format.tsx";
import { OneTimeSecret } from "../components/one-time-secret.tsx";
import { UserDialog } from "../administration/user-dialog.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Table } from "../components/table.tsx";
import { requestJson, get } from "../request.ts";
import { useSession } from "../session.ts";

const ALL = { page_size: "max", ordering: "username" };

function UsersPage() {
  // Whoever is signed in may read accounts and groups; this page is for who may change them.
  const factors = useLoaded("second-factors", (signal) =>
    get<Listed<{ username: string }>>("/api/admin/second-factors", {}, signal),
  );
  const identities = useLoaded("identities", (signal) =>
    get<Listed<Identity> & { providers: ProviderName[] }>("/api/admin/identities", {}, signal),
  );
  const users = useLoaded("users", (signal) => get<Listed<User>>("/api/v2/users/", ALL, signal));
  const groups = useLoaded("groups", (signal) =>
    get<Listed<Group>>("/api/v2/groups/", { page_size: "max" }, signal),
  );
  const session = useSession();
  const [question, setQuestion] = useState<Question | null>(null);
  const [edited, setEdited] = useState<User | "new" | null>(null);
  const [linked, setLinked] = useState<string | null>(null);
  const [link, setLink] = useState<{ username: string; url: string; expires: string } | null>(null);
  const reload = (): void => {
    factors.reload();
    identities.reload();
    users.reload();
    groups.reload();
  };
  const makeLink = async (username: string): Promise<void> => {
    try {
      const made = await requestJson<{ url: string; expires: string }>(
        "POST",
        `/api/admin/users/${encodeURIComponent(username)}/password-link`,
      );
      setLink({ username, ...made });
      scrollTo({ top: 0 });
    } catch (problem) {
      showToast((problem as Error).message, "error");
    }
  };
  const hasSecond = new Set(factors.value?.results.map(({ username }) => username));
  const linksOf = (username: string): Identity[] =>
    (identities.value?.results ?? []).filter((identity) => identity.username === username);
  const mayLink = (identities.value?.providers.length ?? 0) > 0;
  const error = factors.error ?? identities.error ?? users.error ?? groups.error;
  // Nobody signs in as the account that owns what comes with the program.
  const rows = (users.value?.results ?? []).filter(({ username }) => username !== "system");
  return (
    <Administration path="/administration/users" title="People">
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      <Confirmation />
      {link && (
        <OneTimeSecret
          label={`Link for ${link.username}`}
          value={link.url}
          note={`Send it to nobody else: whoever opens it sets the password of ${link.username}. It is good for one use, until ${new Date(link.expires).toLocaleString()}.`}
        />
      )}
      {factors.value !== undefined && users.value && (
        <section aria-labelledby="accounts">
          <div class="row between">
            <h2 id="accounts">Accounts</h2>
            <Button look="primary" onClick={() => setEdited("new")}>
              Add somebody
            </Button>
          </div>
          <Table
            caption="All accounts"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                name: "username",
                title: "Name",
                heading: true,
                cell: (row) => (
                  <>
                    {row.username} {row.is_superuser && <span class="tag">administrator</span>}{" "}
                    {hasSecond.has(row.username) && <span class="tag good">second factor</span>}{" "}
                    {linksOf(row.username).map(({ provider }) => (
                      <span class="tag" key={provider}>
                        {provider}
                      </span>
                    ))}{" "}
                    {!row.is_active && <span class="tag warn">shut out</span>}
                  </>
                ),
              },
              { name: "full_name", title: "Full name", cell: (row) => row.full_name || "–" },
              { name: "email", title: "E-mail", cell: (row) => row.email || "–" },
              {
                name: "groups",
                title: "Groups",
                cell: (row) => row.groups.map(({ name }) => name).join(", "),
              },
              { name: "joined", title: "Since", cell: (row) => <Time at={row.date_joined} /> },
              {
                name: "actions",
                title: <span class="unseen">What can be done</span>,
                cell: (row) => (
                  <span class="row">
                    <Button look="quiet" aria-label={`Change ${row.username}`} onClick={() => setEdited(row)}>
                      Change
                    </Button>
                    {hasSecond.has(row.username) && row.username !== session?.user.username && (
                      <Button
                        look="quiet"
                        aria-label={`Reset codes of ${row.username}`}
                        onClick={() =>
                          setQuestion({
                            title: `Reset the second factor of ${row.username}?`,
                            text: `For who has lost the phone: make sure that it is ${row.username} who asks. Sessions end, and the password alone signs in until a new one is set up.`,
                            verb: "Reset",
                            run: () => requestJson("DELETE", secondFactorPath(row.username)),
                            done: `${row.username} has no second factor any more.`,
                          })
                        }
                      >
                        Reset codes
                      </Button>
                    )}
                    {(mayLink || linksOf(row.username).length > 0) && (
                      <Button
                        look="quiet"
                        aria-label={`Links of ${row.username}`}
                        onClick={() => setLinked(row.username)}
                      >
                        Links
                      </Button>
                    )}
                    {row.is_active ? (
                      <>
                        <Button
                          look="quiet"
                          aria-label={`Password link for ${row.username}`}
                          onClick={() => void makeLink(row.username)}
                        >
                          Password link
                        </Button>
                        <Button
                          look="quiet"
                          aria-label={`Shut out ${row.username}`}
                          onClick={() =>
                            setQuestion({
                              title: `Shut ${row.username} out?`,
                              text: "Sessions end and tokens do nothing from now on. Records stay and go on telling who made them. It can be taken back.",
                              verb: "Shut out",
                              run: () => requestJson("DELETE", userPath(row.username)),
                              done: `${row.username} is shut out.`,
                            })
                          }
                        >
                          Shut out
                        </Button>
                      </>
                    ) : (
                      <Button
                        look="quiet"
                        aria-label={`Let in ${row.username}`}
                        onClick={() =>
                          setQuestion({
                            title: `Let ${row.username} in again?`,
                            text: "The password and the tokens from before work again.",
                            verb: "Let in",
                            run: () =>
                              requestJson("PATCH", userPath(row.username), { body: { is_active: true } }),
                            done: `${row.username} may sign in again.`,
                          })
                        }
                      >
                        Let in
                      </Button>
                    )}
                  </span>
                ),
              },
            ]}
          />
        </section>
      )}
      {factors.value !== undefined && groups.value && users.value && (
        <Groups groups={groups.value.results} users={rows} onDone={reload} ask={setQuestion} />
      )}
      {edited !== null && (
        <UserDialog
          user={edited === "new" ? null : edited}
          groups={(groups.value?.results ?? []).map(({ name }) => name)}
          onClose={() => setEdited(null)}
          onDone={(username, wantsLink) => {
            setEdited(null);
            reload();
            if (wantsLink) void makeLink(username);
          }}
        />
      )}
      {linked !== null && (
        <IdentityDialog
          username={linked}
          linked={linksOf(linked)}
          providers={identities.value?.providers ?? []}
          onClose={() => setLinked(null)}
          onDone={() => {
            setLinked(null);
            reload();
          }}
        />
      )}
      {question && <Confirm question={question} onClose={() => setQuestion(null)} onDone={reload} />}
    </Administration>
  );
}

export const administrationUsersPage = definePage({
  name: "administration-users",
  paths: ["/administration/users"],
  title: "People",
  View: UsersPage,
});
