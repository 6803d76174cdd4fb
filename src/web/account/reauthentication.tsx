import { useEffect, useState } from "preact/hooks";
import { href, signInProvider } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { FormDialog } from "../components/form.tsx";
import { call, onConfirmationRequired } from "../request.ts";
import { currentPasswordField } from "./fields.tsx";

interface Prompt {
  by: string;
  resolve: (confirmed: boolean) => void;
}

const TITLE = "Confirm your identity";

/** Asks for the password again, or leads to the provider, where the server wants that; the shell holds it. */
export function Reauthentication() {
  const [prompt, setPrompt] = useState<Prompt | null>(null);
  useEffect(
    () =>
      onConfirmationRequired("confirmation_required", async ({ body }) => {
        const confirmed = await new Promise<boolean>((resolve) =>
          setPrompt({ by: String(body.by), resolve }),
        );
        return confirmed ? {} : null;
      }),
    [],
  );
  if (prompt === null) return null;
  const end = (confirmed: boolean): void => {
    setPrompt(null);
    prompt.resolve(confirmed);
  };
  if (prompt.by !== "password") return <AtProvider onClose={() => end(false)} />;
  return (
    <FormDialog
      title={TITLE}
      submit="Continue"
      onClose={() => end(false)}
      initial={{ current_password: "" }}
      fields={[{ ...currentPasswordField, label: "Your password" }]}
      onSubmit={async (body) => {
        await call("POST /api/account/confirmation", { body });
        end(true);
      }}
    >
      <p>You signed in a while ago. Enter your password to continue.</p>
    </FormDialog>
  );
}

function AtProvider({ onClose }: { onClose: () => void }) {
  const next = location.pathname + location.search;
  return (
    <Dialog
      title={TITLE}
      onClose={onClose}
      cancel
      actions={
        <LinkButton look="primary" href={href("/api/oidc/sign-in", { again: 1, next })}>
          Sign in again
        </LinkButton>
      }
    >
      <p>
        You signed in a while ago. Sign in with {signInProvider() || "your provider"} again. You will return
        to this page and can repeat the action.
      </p>
    </Dialog>
  );
}
