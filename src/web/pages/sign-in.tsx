import { useState } from "preact/hooks";
import { CodeField } from "../account/code-field.tsx";
import { KnownUsername, UsernameField } from "../account/username-field.tsx";
import { href, nextAddress } from "../address.ts";
import { definePage, useQuery } from "../page.tsx";
import { Button } from "../components/button.tsx";
import { TextField } from "../components/field.tsx";
import { ProviderSignIn } from "../components/provider.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { ApiError } from "../request.ts";
import { signIn } from "../session.ts";

function SignIn() {
  const [query] = useQuery();
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  /** Whether the password was right and a code is asked for. */
  const [isSecond, setSecond] = useState(false);
  const [isRecovery, setRecovery] = useState(false);
  const form = useSubmission(async () => {
    try {
      const { needs_second_factor } = await signIn(username, password, code);
      const next = nextAddress(query.get("next"));
      location.assign(needs_second_factor ? href("/second-factor", { next }) : next);
      return true;
    } catch (problem) {
      const refused = problem instanceof ApiError ? problem.code : "";
      if (refused === "second_factor_required" && !isSecond) return setSecond(true);
      // Somebody has set another password meanwhile.
      if (refused === "unauthenticated") setSecond(false);
      setCode("");
      throw problem;
    }
  });
  const isRefused = form.error instanceof ApiError && form.error.code === "unauthenticated";
  return (
    <div class="narrow">
      <h1>Sign in</h1>
      <ProviderSignIn />
      {isRefused ? (
        <div class="failure" role="alert">
          <p>
            <strong>Name and password do not fit.</strong> Passwords are case-sensitive. An administrator can
            set a new one.
          </p>
        </div>
      ) : (
        <FormError of={form} />
      )}
      <form onSubmit={form.submit} method="post" action={href("/api/v2/session/")}>
        {isSecond ? (
          <>
            <p role="status">The password is right. Your account has a second factor, too.</p>
            <KnownUsername value={username} />
            <CodeField
              kind={isRecovery ? "recovery" : "app"}
              value={code}
              onInput={setCode}
              errors={form.fields.code}
              focus
            />
          </>
        ) : (
          <>
            <UsernameField
              label="Name"
              value={username}
              onInput={setUsername}
              errors={form.fields.username}
            />
            <TextField
              label="Password"
              name="password"
              type="password"
              autocomplete="current-password"
              required
              value={password}
              onInput={setPassword}
              errors={form.fields.password}
            />
          </>
        )}
        <p class="actions">
          <Button look="primary" type="submit" busy={form.busy}>
            Sign in
          </Button>
          {isSecond && (
            <Button
              look="quiet"
              onClick={() => {
                setRecovery(!isRecovery);
                setCode("");
              }}
            >
              {isRecovery ? "Use a code of the app" : "Use a recovery code"}
            </Button>
          )}
        </p>
      </form>
      {isSecond && (
        <p class="muted">The phone and the recovery codes are lost? An administrator can reset this.</p>
      )}
    </div>
  );
}

export const signInPage = definePage({
  name: "sign-in",
  paths: ["/sign-in"],
  title: "Sign in",
  View: SignIn,
});
