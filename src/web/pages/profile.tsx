import { useState } from "preact/hooks";
import {
  currentPasswordField,
  KnownUsername,
  passwordField,
  personBody,
  personFields,
} from "../account/fields.tsx";
import { RemindersCard, sendVerification } from "../account/reminders.tsx";
import { SecondFactor } from "../account/second-factor.tsx";
import { revokeToken, tokenColumns, type TokenRow } from "../account/tokens.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Button } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { Form } from "../components/form.tsx";
import { Card, PageHead, Tag } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { OneTimeSecret } from "../components/one-time-secret.tsx";
import { Table } from "../components/table.tsx";
import { showToast } from "../components/toast.tsx";
import { browserName, Time } from "../format.tsx";
import { groupTitle } from "../../platform/words.ts";
import { definePage } from "../page.tsx";
import { type Answer, ApiError, call, setCsrfToken } from "../request.ts";
import { type Session, useSession } from "../session.ts";

type SessionRow = Answer<"GET /api/account/sessions">["results"][number];

function Profile() {
  const session = useSession();
  const [email, setEmail] = useState("");
  const sessions = useLoaded(session ? "sessions" : null, (signal) =>
    call("GET /api/account/sessions", { signal }),
  );
  return (
    <>
      <PageHead title="Your profile" />
      {session === null && <ErrorBanner error={new ApiError(401, "unauthenticated", "Not signed in.")} />}
      {session && (
        <div class="stack">
          <div class="columns">
            <PersonCard session={session} onEmail={setEmail} />
            <PasswordCard username={session.user.username} onChanged={sessions.reload} />
          </div>
          <RemindersCard key={email} />
          <Card title="Second factor">
            <SecondFactor />
          </Card>
          <Card title="Sessions" bare>
            <Loaded of={sessions}>
              {({ results }) => <Sessions rows={results} reload={sessions.reload} />}
            </Loaded>
          </Card>
          <Tokens />
        </div>
      )}
    </>
  );
}

function PersonCard({ session: { user }, onEmail }: { session: Session; onEmail: (email: string) => void }) {
  const groups = (user.groups as { name: string }[] | undefined) ?? [];
  const initial = { full_name: String(user.full_name ?? ""), email: String(user.email ?? "") };
  const [saved, setSaved] = useState(initial.email);
  return (
    <Card title={user.username}>
      <p class="muted">
        {user.is_superuser && "Administrator. "}
        {groups.length > 0 && `Groups: ${groups.map(({ name }) => groupTitle(name)).join(", ")}.`}
      </p>
      <Form
        look="plain"
        submit="Save"
        initial={initial}
        fields={personFields()}
        onSubmit={async (values) => {
          await call("PATCH /api/v2/:list/:id/", {
            params: { list: "users", id: user.username },
            body: personBody(values, initial.email !== ""),
          });
          const isNew = values.email !== "" && values.email !== saved;
          // Without a mail server, nothing is sent to any address.
          const sent = isNew && (await sendVerification().catch(() => undefined));
          showToast(sent ? `Saved your profile. Open the link sent to ${sent}.` : "Saved your profile.");
          setSaved(values.email);
          onEmail(values.email);
        }}
      />
    </Card>
  );
}

function PasswordCard({ username, onChanged }: { username: string; onChanged: () => void }) {
  return (
    <Card title="Password">
      <p class="muted">Changing it ends all your other sessions. Tokens keep working.</p>
      <Form
        look="plain"
        submit="Change password"
        reset
        initial={{ current_password: "", password: "" }}
        fields={[currentPasswordField, passwordField("New password")]}
        onSubmit={async (body) => {
          const { csrf_token } = await call("POST /api/account/password", { body });
          setCsrfToken(csrf_token);
          onChanged();
          showToast("Changed your password. All your other sessions have ended.");
        }}
      >
        <KnownUsername value={username} />
      </Form>
    </Card>
  );
}

function Sessions({ rows, reload }: { rows: readonly SessionRow[]; reload: () => void }) {
  const end = (row?: SessionRow): void =>
    confirm({
      title: row ? `End the session of ${browserName(row.agent)}?` : "Sign out everywhere else?",
      text: row ? "That browser will be signed out." : "You stay signed in here.",
      verb: row ? "End session" : "Sign out everywhere else",
      run: () =>
        (row
          ? call("DELETE /api/account/sessions/:id", { params: { id: row.id } })
          : call("DELETE /api/account/sessions")
        ).then(reload),
      done: row ? "The session has ended." : "All other sessions have ended.",
    });
  return (
    <>
      <Table
        caption="Your sessions"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          {
            name: "agent",
            title: "Browser",
            heading: true,
            cell: ({ agent, current }) => (
              <span title={agent}>
                {browserName(agent)} {current && <Tag tone="ok">this session</Tag>}
              </span>
            ),
          },
          { name: "created", title: "Signed in", cell: ({ created }) => <Time at={created} /> },
          { name: "last_used", title: "Last used", cell: ({ last_used }) => <Time at={last_used} /> },
        ]}
        actions={(row) =>
          !row.current && (
            <Button look="quiet" small onClick={() => end(row)}>
              End session
            </Button>
          )
        }
      />
      {rows.length > 1 && (
        <div class="card-foot">
          <Button small onClick={() => end()}>
            Sign out everywhere else
          </Button>
        </div>
      )}
    </>
  );
}

const DAYS = [
  { value: "30", name: "30 days" },
  { value: "90", name: "90 days" },
  { value: "365", name: "1 year" },
  { value: "", name: "No expiry" },
] as const;

function Tokens() {
  const loaded = useLoaded("tokens", (signal) => call("GET /api/v2/tokens/", { signal }));
  const [created, setCreated] = useState<string | null>(null);
  const revoke = (row: TokenRow): void =>
    confirm({
      ...revokeToken.confirm(row),
      verb: revokeToken.label,
      done: revokeToken.done(row),
      run: async () => {
        await call("DELETE /api/v2/tokens/:id/", { params: { id: row.id } });
        loaded.update((page) => ({ ...page, results: page.results.filter(({ id }) => id !== row.id) }));
      },
    });
  return (
    <Card title="Tokens">
      <p class="muted">
        A program sends a token as <code>Authorization: Token …</code> to act for you.
      </p>
      {created !== null && (
        <OneTimeSecret
          label="Your new token"
          value={created}
          note="Copy it now: only a hash is stored, so it cannot be shown again."
        />
      )}
      <Form
        inline
        reset
        look="plain"
        submit="Create token"
        initial={{ name: "", scope: "read" as "read" | "write", days: "90" }}
        fields={[
          { name: "name", label: "Purpose", maxLength: 255 },
          {
            name: "scope",
            label: "Access",
            kind: "select",
            choices: [
              { value: "read", name: "Read" },
              { value: "write", name: "Read and write" },
            ],
          },
          { name: "days", label: "Valid for", kind: "select", choices: DAYS },
        ]}
        onSubmit={async ({ days, ...values }) => {
          const body = { ...values, ...(days === "" ? {} : { days: Number(days) }) };
          const { token } = await call("POST /api/v2/tokens/", { body });
          setCreated(token);
          loaded.reload();
        }}
      />
      <Loaded of={loaded}>
        {({ results }) =>
          results.length === 0 ? (
            <p>You have no tokens.</p>
          ) : (
            <Table
              caption="Your tokens"
              rows={results}
              rowKey={({ id }) => id}
              columns={tokenColumns}
              actions={(row) =>
                revokeToken.applies(row) && (
                  <Button look="quiet" small aria-label={`Revoke: ${row.name}`} onClick={() => revoke(row)}>
                    Revoke
                  </Button>
                )
              }
            />
          )
        }
      </Loaded>
    </Card>
  );
}

export const profilePage = definePage({
  name: "profile",
  paths: ["/profile"],
  title: "Your profile",
  View: Profile,
});
