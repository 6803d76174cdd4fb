import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { definePage, useQuery } from "../page.tsx";
import { Button } from "../part/button.tsx";
import { Failure } from "../part/failure.tsx";
import { TextField } from "../part/field.tsx";
import { Refusal } from "../request.ts";
import { signIn } from "../session.ts";

function SignIn() {
  const [query] = useQuery();
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const fields = error instanceof Refusal ? error.fields : {};
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(username, password);
      location.assign(ownAddress(query.get("next")));
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <div class="narrow">
      <h1>Sign in</h1>
      {error !== null && (error as Refusal).status === 401 ? (
        <div class="failure" role="alert">
          <p>
            <strong>Name and password do not fit.</strong> Passwords are case-sensitive. An administrator can
            set a new one.
          </p>
        </div>
      ) : (
        error !== null && Object.keys(fields).length === 0 && <Failure error={error} />
      )}
      <form onSubmit={submit} method="post" action={href("/api/v2/session/")}>
        <TextField
          label="Name"
          name="username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
          value={username}
          onInput={setUsername}
          errors={fields.username}
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={setPassword}
          errors={fields.password}
        />
        <Button look="primary" type="submit" busy={busy}>
          Sign in
        </Button>
      </form>
    </div>
  );
}

/** Where to go after: a page of ours and no other. */
const ownAddress = (next: string | null): string =>
  next !== null && /^\/(?![/\\])/.test(next) ? next : href("/");

export const signInPage = definePage({
  name: "sign-in",
  paths: ["/sign-in"],
  title: "Sign in",
  section: null,
  View: SignIn,
});
