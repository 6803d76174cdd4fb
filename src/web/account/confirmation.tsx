import { useEffect, useState } from "preact/hooks";
import { href, signInProvider } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { TextField } from "../components/field.tsx";
import { requestJson, onConfirmationRequired } from "../request.ts";
import { FormError, useSubmission } from "../components/form.tsx";

interface Asked {
  by: string;
  /** @param shown whether somebody has shown who it is, so that what was asked for is worth trying again */
  end: (shown: boolean) => void;
}

/** Has whoever sits here show who it is, where the server wants that of a browser; for pages that ask for such things. */
export function Confirmation() {
  const [asked, setAsked] = useState<Asked | null>(null);
  useEffect(
    () =>
      onConfirmationRequired(
        (by) =>
          new Promise((resolve) => {
            setAsked({
              by,
              end: (shown) => {
                setAsked(null);
                resolve(shown);
              },
            });
          }),
      ),
    [],
  );
  if (asked === null) return null;
  return asked.by === "password" ? <ByPassword end={asked.end} /> : <ByProvider end={asked.end} />;
}

const TITLE = "Show that it is you";

function ByPassword({ end }: Pick<Asked, "end">) {
  const [password, setPassword] = useState("");
  const form = useSubmission(async () => {
    await requestJson("POST", "/api/account/confirmation", { body: { current_password: password } });
    end(true);
    return true;
  });
  return (
    <Dialog title={TITLE} onClose={() => end(false)}>
      <p>You signed in a while ago. Give your password once more, and what you wanted is done.</p>
      <FormError of={form} />
      <form onSubmit={form.submit}>
        <TextField
          label="Your password"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={setPassword}
          errors={form.fields.current_password}
        />
        <p class="actions">
          <Button look="primary" type="submit" busy={form.busy}>
            Go on
          </Button>
          <Button onClick={() => end(false)}>Leave it</Button>
        </p>
      </form>
    </Dialog>
  );
}

/** It is at the provider that such people show who they are: there and back to this page. */
function ByProvider({ end }: Pick<Asked, "end">) {
  const next = location.pathname + location.search;
  return (
    <Dialog title={TITLE} onClose={() => end(false)}>
      <p>
        You signed in a while ago. Sign in with {signInProvider() || "your provider"} once more: you come back
        to this page, and can do it then.
      </p>
      <p class="actions">
        <LinkButton look="primary" href={href("/api/oidc/sign-in", { again: 1, next })}>
          Sign in again
        </LinkButton>
        <Button onClick={() => end(false)}>Leave it</Button>
      </p>
    </Dialog>
  );
}
