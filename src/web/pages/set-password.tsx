import { newPasswordFields } from "../account/fields.tsx";
import { UsedLink } from "../account/used-link.tsx";
import { Form } from "../components/form.tsx";
import { PageHead } from "../components/layout.tsx";
import { definePage, navigate, useKey } from "../page.tsx";
import { call } from "../request.ts";

function SetPassword() {
  const key = useKey();
  if (key === "") return <UsedLink />;
  return (
    <div class="narrow">
      <PageHead title="Choose a password">An administrator sent you this link. It works once.</PageHead>
      <Form
        submit="Set password and sign in"
        focusError
        initial={{ password: "", again: "" }}
        fields={newPasswordFields("New password")}
        onSubmit={async ({ password }) => {
          const { csrf_token } = await call("POST /api/account/password", { body: { key, password } });
          // The link replaces the password; an account with a second factor still has to sign in with it.
          if (csrf_token === null) navigate("/sign-in", { next: "/profile" });
          else navigate("/profile");
          return true;
        }}
      />
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
