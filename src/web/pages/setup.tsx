import { useEffect, useState } from "preact/hooks";
import { definePage, go, useQuery } from "../page.tsx";
import { Button } from "../part/button.tsx";
import { Failure } from "../part/failure.tsx";
import { TextField } from "../part/field.tsx";
import { ask, Refusal } from "../request.ts";

function Setup() {
  const [query, setQuery] = useQuery();
  const [key] = useState(query.get("key") ?? "");
  const [username, setUsername] = useState("");
  const [fullName, setFullName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  // Neither history nor a look over the shoulder is to have it.
  useEffect(() => setQuery({ key: null }, { replace: true }), []);
  const differ = again !== "" && again !== password;
  const fields = error instanceof Refusal ? error.fields : {};
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy || again !== password) return;
    setBusy(true);
    try {
      await ask("POST", "/api/setup", {
        body: { key, username, password, full_name: fullName, email },
      });
      go("/administration");
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <div class="narrow">
      <h1>Set up labd</h1>
      <p class="lead">Make the first administrator, who adds everybody else. This page is shown once.</p>
      {error !== null && Object.keys(fields).length === 0 && <Failure error={error} focus />}
      <form onSubmit={submit} method="post">
        <TextField
          label="Name to sign in with"
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
          label="Full name"
          optional
          autocomplete="name"
          value={fullName}
          onInput={setFullName}
          errors={fields.full_name}
        />
        <TextField
          label="E-mail"
          optional
          type="email"
          autocomplete="email"
          value={email}
          onInput={setEmail}
          errors={fields.email}
        />
        <TextField
          label="Password"
          hint="At least 8 characters; a sentence is easy to remember."
          name="password"
          type="password"
          autocomplete="new-password"
          required
          value={password}
          onInput={setPassword}
          errors={fields.password}
        />
        <TextField
          label="The same again"
          type="password"
          autocomplete="new-password"
          required
          value={again}
          onInput={setAgain}
          errors={differ ? ["This is not the same as above."] : undefined}
        />
        <Button look="primary" type="submit" busy={busy}>
          Make the administrator
        </Button>
      </form>
    </div>
  );
}

export const setupPage = definePage({
  name: "setup",
  paths: ["/setup"],
  title: "Set up labd",
  section: null,
  keyed: true,
  View: Setup,
});
