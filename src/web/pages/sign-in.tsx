import { useState } from "preact/hooks";
import { codeField, usernameField } from "../account/fields.tsx";
import { ProviderSignIn } from "../account/provider.tsx";
import { href, nextAddress } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { PageHead } from "../components/layout.tsx";
import { definePage, useQuery } from "../page.tsx";
import { ApiError } from "../request.ts";
import { signIn } from "../session.ts";

const PASSWORD = {
  name: "password",
  label: "Password",
  type: "password",
  autocomplete: "current-password",
} as const;

const REFUSED_MESSAGE =
  "Wrong username or password. Passwords are case-sensitive; an administrator can reset yours.";

function SignIn() {
  const [query] = useQuery();
  /** The account has a second factor and the password was right: which code is asked for. */
  const [code, askFor] = useState<"app" | "recovery" | null>(null);
  const submit = async (
    values: { username: string; password: string; code: string },
    change: (patch: { code: string }) => void,
  ): Promise<boolean> => {
    try {
      const { needs_second_factor } = await signIn(values);
      const next = nextAddress(query.get("next"));
      location.assign(needs_second_factor ? href("/second-factor", { next }) : next);
      return true;
    } catch (error) {
      const refused = error instanceof ApiError ? error.code : "";
      if (refused === "second_factor_required" && code === null) {
        askFor("app");
        return false;
      }
      change({ code: "" });
      if (refused !== "unauthenticated") throw error;
      // The password may have changed meanwhile.
      askFor(null);
      throw new ApiError(400, refused, REFUSED_MESSAGE);
    }
  };
  return (
    <div class="narrow stack">
      <PageHead title="Sign in" />
      <ProviderSignIn />
      <Form
        submit="Sign in"
        initial={{ username: "", password: "", code: "" }}
        fields={code === null ? [usernameField(), PASSWORD] : [codeField(code)]}
        onSubmit={submit}
        extra={
          code !== null && (
            <Button look="quiet" onClick={() => askFor(code === "app" ? "recovery" : "app")}>
              {code === "app" ? "Use a recovery code" : "Use a code from the app"}
            </Button>
          )
        }
      >
        {code !== null && <p role="status">Your account also needs a code.</p>}
      </Form>
      {code !== null && (
        <p class="muted">Lost both phone and recovery codes? An administrator can reset the second factor.</p>
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
