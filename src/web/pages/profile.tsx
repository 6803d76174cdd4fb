import { useEffect, useState } from "preact/hooks";
import { Confirmation } from "../account/confirmation.tsx";
import { NewPassword, useNewPassword } from "../account/new-password.tsx";
import { PersonFields, usePerson } from "../account/person-fields.tsx";
import { SecondFactor } from "../account/second-factor.tsx";
import { type TokenRow, TokenTable } from "../account/token-table.tsx";
import { KnownUsername } from "../account/username-field.tsx";
import { Confirm, type Question } from "../components/confirm.tsx";
import { browserName, Time } from "../format.tsx";
import { OneTimeSecret } from "../components/one-time-secret.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Table } from "../components/table.tsx";
import { requestJson, get, ApiError, setCsrfToken } from "../request.ts";
import { type Session, useSession } from "../session.ts";

function Profile() {
  const session = useSession();
  return (
    <>
      <h1>Your profile</h1>
      <Confirmation />
      {session === null && (
        <ErrorBanner error={new ApiError(401, "unauthenticated", "Nobody is signed in.")} />
      )}
      {session && (
        <div class="stack">
          <div class="columns">
            <Person session={session} />
            <Password username={session.user.username} />
          </div>
          <section class="card" aria-labelledby="second-factor">
            <h2 id="second-factor">Second factor</h2>
            <SecondFactor />
          </section>
          <Sessions />
          <Tokens />
        </div>
      )}
    </>
  );
}

function Person({ session: { user } }: { session: Session }) {
  const person = usePerson(user);
  const form = useSubmission(async () => {
    await requestJson("PATCH", `/api/v2/users/${encodeURIComponent(user.username)}/`, {
      body: person.body,
    });
    showToast("Your profile is saved.");
  });
  const groups = (user.groups as { name: string }[] | undefined) ?? [];
  return (
    <section class="card" aria-labelledby="person">
      <h2 id="person">{user.username}</h2>
      <p class="muted">
        {user.is_superuser ? "Administrator. " : ""}
        {groups.length > 0 && `In ${groups.map(({ name }) => name).join(", ")}.`}
      </p>
      <FormError of={form} />
      <form onSubmit={form.submit}>
        <PersonFields of={person} errors={form.fields} />
        <Button type="submit" busy={form.busy}>
          Save
        </Button>
      </form>
    </section>
  );
}

function Password({ username }: { username: string }) {
  const [current, setCurrent] = useState("");
  const chosen = useNewPassword();
  const form = useSubmission(async () => {
    const { csrf_token } = await requestJson<{ csrf_token: string }>("POST", "/api/account/password", {
      body: { current_password: current, password: chosen.password },
    });
    setCsrfToken(csrf_token);
    setCurrent("");
    chosen.setPassword("");
    dispatchEvent(new Event(SESSIONS_CHANGED));
    showToast("The password is changed. Everywhere else you are signed out.");
  });
  return (
    <section class="card" aria-labelledby="password">
      <h2 id="password">Password</h2>
      <p class="muted">Changing it signs you out everywhere else. Tokens stay.</p>
      <FormError of={form} />
      <form onSubmit={form.submit}>
        <KnownUsername value={username} />
        <TextField
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
          value={current}
          onInput={setCurrent}
          errors={form.fields.current_password}
        />
        <NewPassword chosen={chosen} label="New password" errors={form.fields.password} />
        <Button type="submit" busy={form.busy}>
          Change the password
        </Button>
      </form>
    </section>
  );
}

const SESSIONS_CHANGED = "labd:sessions";

interface SessionRow {
  id: string;
  created: string;
  last_used: string;
  agent: string;
  current: boolean;
}

function Sessions() {
  const { value, error, reload } = useLoaded("sessions", (signal) =>
    get<{ results: SessionRow[] }>("/api/account/sessions", {}, signal),
  );
  const [question, setQuestion] = useState<Question | null>(null);
  useEffect(() => {
    addEventListener(SESSIONS_CHANGED, reload);
    return () => removeEventListener(SESSIONS_CHANGED, reload);
  }, []);
  const end = (row: SessionRow): void =>
    setQuestion({
      title: "End this session?",
      text: `${browserName(row.agent)} is signed out.`,
      verb: "End the session",
      run: () => requestJson("DELETE", `/api/account/sessions/${row.id}`),
      done: "The session has ended.",
    });
  const rows = value?.results ?? [];
  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">Where you are signed in</h2>
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      <Table
        caption="Sessions"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "agent",
            title: "Browser",
            heading: true,
            cell: (row) => (
              <span title={row.agent}>
                {browserName(row.agent)} {row.current && <span class="tag good">this one</span>}
              </span>
            ),
          },
          { name: "created", title: "Since", cell: ({ created }) => <Time at={created} /> },
          { name: "last_used", title: "Last used", cell: ({ last_used }) => <Time at={last_used} /> },
          {
            name: "end",
            title: <span class="unseen">What can be done</span>,
            cell: (row) =>
              row.current ? null : (
                <Button look="quiet" onClick={() => end(row)}>
                  End
                </Button>
              ),
          },
        ]}
      />
      {rows.length > 1 && (
        <p class="actions">
          <Button
            onClick={() =>
              setQuestion({
                title: "End all others?",
                text: "You stay signed in here, and nowhere else.",
                verb: "End all others",
                run: () => requestJson("DELETE", "/api/account/sessions"),
                done: "All other sessions have ended.",
              })
            }
          >
            End all others
          </Button>
        </p>
      )}
      {question && <Confirm question={question} onClose={() => setQuestion(null)} onDone={reload} />}
    </section>
  );
}

const DAYS = [
  { value: "30", name: "30 days" },
  { value: "90", name: "90 days" },
  { value: "365", name: "a year" },
  { value: "", name: "no end" },
] as const;

function Tokens() {
  const { value, error, reload } = useLoaded("tokens", (signal) =>
    get<{ results: TokenRow[] }>("/api/v2/tokens/", {}, signal),
  );
  const [name, setName] = useState("");
  const [scope, setScope] = useState<"read" | "write">("read");
  const [days, setDays] = useState<(typeof DAYS)[number]["value"]>("90");
  const [made, setMade] = useState<string | null>(null);
  const form = useSubmission(async () => {
    const { token } = await requestJson<{ token: string }>("POST", "/api/v2/tokens/", {
      body: { name, scope, ...(days === "" ? {} : { days: Number(days) }) },
    });
    setMade(token);
    setName("");
    reload();
  });
  return (
    <section class="card" aria-labelledby="tokens">
      <h2 id="tokens">Tokens for programs</h2>
      <p class="muted">
        A program sends one as <code>Authorization: Token …</code> and works in your name.
      </p>
      {made !== null && (
        <OneTimeSecret
          label="Your new token"
          value={made}
          note="Copy it now: it is kept as a hash only, and cannot be shown again."
        />
      )}
      <FormError of={form} />
      <form onSubmit={form.submit} class="in-line">
        <TextField
          label="What is it for?"
          required
          maxLength={255}
          value={name}
          onInput={setName}
          errors={form.fields.name}
        />
        <SelectField
          label="It may"
          value={scope}
          choices={[
            { value: "read", name: "read only" },
            { value: "write", name: "all that you may" },
          ]}
          onChange={setScope}
        />
        <SelectField label="Good for" value={days} choices={DAYS} onChange={setDays} />
        <Button type="submit" busy={form.busy}>
          Make a token
        </Button>
      </form>
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value && value.results.length > 0 && (
        <TokenTable
          caption="Your tokens"
          rows={value.results}
          pathOf={({ id }) => `/api/v2/tokens/${id}/`}
          onDone={reload}
        />
      )}
      {value?.results.length === 0 && <p>You have none.</p>}
    </section>
  );
}

export const profilePage = definePage({
  name: "profile",
  paths: ["/profile"],
  title: "Your profile",
  View: Profile,
});
