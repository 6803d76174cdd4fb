import { useEffect, useState } from "preact/hooks";
import { NewPassword, useNewPassword } from "../account/new-password.tsx";
import { definePage, navigate, useQuery } from "../page.tsx";
import { Button } from "../components/button.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { requestJson } from "../request.ts";

function SetPassword() {
  const [query, setQuery] = useQuery();
  const [key] = useState(query.get("key") ?? "");
  const chosen = useNewPassword();
  useEffect(() => setQuery({ key: null }, { replace: true }), []);
  const form = useSubmission(async () => {
    if (!chosen.isTwice) return false;
    const { csrf_token } = await requestJson<{ csrf_token: string | null }>("POST", "/api/account/password", {
      body: { key, password: chosen.password },
    });
    // The link stands for the password; an account with a second factor signs in with that, too.
    navigate(csrf_token === null ? "/sign-in" : "/profile", csrf_token === null ? { next: "/profile" } : {});
    return true;
  });
  return (
    <div class="narrow">
      <h1>Choose a password</h1>
      <p class="lead">An administrator has sent you this link. It is good for one use.</p>
      <FormError of={form} focus />
      <form onSubmit={form.submit} method="post">
        <NewPassword chosen={chosen} label="New password" errors={form.fields.password} twice />
        <Button look="primary" type="submit" busy={form.busy}>
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
  keyed: true,
  View: SetPassword,
});
