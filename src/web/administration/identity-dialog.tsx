import { useState } from "preact/hooks";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { requestJson } from "../request.ts";
import { type Identity, identityPath, PROVIDER_NAMES, type ProviderName } from "./people.ts";
import { Time } from "../format.tsx";

/** Whom an account is linked to, and linking it to somebody of a directory or a provider. */
export function IdentityDialog(props: {
  username: string;
  /** Those of the account. */
  linked: readonly Identity[];
  /** What the settings name. */
  providers: readonly ProviderName[];
  onClose: () => void;
  onDone: () => void;
}) {
  const { username, linked, onClose, onDone } = props;
  const free = props.providers.filter((name) => !linked.some(({ provider }) => provider === name));
  const [chosen, setChosen] = useState<ProviderName | undefined>(free[0]);
  const provider = chosen !== undefined && free.includes(chosen) ? chosen : free[0];
  const [who, setWho] = useState(provider === "ldap" ? username : "");
  const form = useSubmission(async () => {
    const { label } = await requestJson<{ label: string }>("POST", identityPath(username), {
      body: { provider: provider!, who },
    });
    showToast(`${username} is linked to ${label}.`);
    onDone();
  });
  const unlinking = useSubmission(async () => {
    await requestJson("DELETE", `${identityPath(username)}/${linked[0].provider}`);
    showToast(`${username} is linked to ${linked[0].label} no more.`);
    onDone();
  });
  return (
    <Dialog title={`Who signs in as ${username}`} onClose={onClose}>
      <FormError of={form} />
      <FormError of={unlinking} />
      {linked.map(({ provider, label, last_used, suspended }) => (
        <p key={provider}>
          {PROVIDER_NAMES[provider]}: <span class="anywhere">{label}</span>
          {last_used !== null && (
            <>
              , last <Time at={last_used} />
            </>
          )}
          {suspended !== null && ", whom the directory lets in no more"}
        </p>
      ))}
      {linked.length > 0 && (
        <form onSubmit={unlinking.submit}>
          <p class="actions">
            <Button look="danger" type="submit" busy={unlinking.busy}>
              Unlink {PROVIDER_NAMES[linked[0].provider]}
            </Button>
          </p>
        </form>
      )}
      {provider !== undefined && (
        <form onSubmit={form.submit}>
          {free.length > 1 && (
            <SelectField
              label="By"
              value={provider}
              choices={free.map((name) => ({ value: name, name: PROVIDER_NAMES[name] }))}
              onChange={(name) => setChosen(name as ProviderName)}
            />
          )}
          <TextField
            label={provider === "ldap" ? "Name or DN in the directory" : "Subject at the provider"}
            hint={
              provider === "ldap"
                ? "The password of the directory signs in from then on, beside the own one."
                : "The audit log has it (sub) of whoever tried to sign in and was refused."
            }
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            required
            value={who}
            onInput={setWho}
            errors={form.fields.who}
          />
          <p class="actions">
            <Button look="primary" type="submit" busy={form.busy}>
              Link
            </Button>
            <Button onClick={onClose}>Leave it</Button>
          </p>
        </form>
      )}
    </Dialog>
  );
}
