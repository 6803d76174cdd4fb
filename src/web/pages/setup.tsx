import { useEffect, useState } from "preact/hooks";
import { NewPassword, useNewPassword } from "../account/new-password.tsx";
import { PersonFields, usePerson } from "../account/person-fields.tsx";
import { UsernameField } from "../account/username-field.tsx";
import { definePage, navigate, useQuery } from "../page.tsx";
import { Button } from "../components/button.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { requestJson } from "../request.ts";

function Setup() {
  const [query, setQuery] = useQuery();
  const [key] = useState(query.get("key") ?? "");
  const [username, setUsername] = useState("");
  const person = usePerson();
  const chosen = useNewPassword();
  // Neither history nor a look over the shoulder is to have it.
  useEffect(() => setQuery({ key: null }, { replace: true }), []);
  const form = useSubmission(async () => {
    if (!chosen.isTwice) return false;
    await requestJson("POST", "/api/setup", {
      body: { key, username, password: chosen.password, ...person.body },
    });
    navigate("/administration");
    return true;
  });
  return (
    <div class="narrow">
      <h1>Set up labd</h1>
      <p class="lead">Make the first administrator, who adds everybody else. This page is shown once.</p>
      <FormError of={form} focus />
      <form onSubmit={form.submit} method="post">
        <UsernameField
          label="Name to sign in with"
          value={username}
          onInput={setUsername}
          errors={form.fields.username}
        />
        <PersonFields of={person} errors={form.fields} />
        <NewPassword chosen={chosen} label="Password" errors={form.fields.password} twice />
        <Button look="primary" type="submit" busy={form.busy}>
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
  keyed: true,
  View: Setup,
});
