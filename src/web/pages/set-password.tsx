import { useEffect, useState } from "preact/hooks";
import { definePage, go, useQuery } from "../page.tsx";
import { Button } from "../part/button.tsx";
import { Failure } from "../part/failure.tsx";
import { TextField } from "../part/field.tsx";
import { ask, Refusal } from "../request.ts";

function SetPassword() {
  const [query, setQuery] = useQuery();
  const [key] = useState(query.get("key") ?? "");
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => setQuery({ key: null }, { replace: true }), []);
  const fields = error instanceof Refusal ? error.fields : {};
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy || again !== password) return;
    setBusy(true);
    try {
      await ask("POST", "/api/account/password", { body: { key, password } });
      go("/profile");
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <div class="narrow">
      <h1>Choose a password</h1>
      <p class="lead">An administrator has sent you this link. It is good for one use.</p>
      {error !== null && Object.keys(fields).length === 0 && <Failure error={error} focus />}
      <form onSubmit={submit} method="post">
        <TextField
          label="New password"
          hint="At least 8 characters; a sentence is easy to remember."
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
          errors={again !== "" && again !== password ? ["This is not the same as above."] : undefined}
        />
        <Button look="primary" type="submit" busy={busy}>
          Set the password and sign in
        </Button>
      </form>
    </div>
  );
}

export const setPasswordPage = definePage({
  name: "set-password",
  paths: ["/set-password"],
  title: "Choose a password",
  section: null,
  keyed: true,
  View: SetPassword,
});
