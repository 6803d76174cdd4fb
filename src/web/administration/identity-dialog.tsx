import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField } from "../components/field.tsx";
import { Form, FormError, useSubmission } from "../components/form.tsx";
import { showToast } from "../components/toast.tsx";
import { Time } from "../format.tsx";
import { call } from "../request.ts";
import { type Identity, type Person, type Provider, PROVIDER_NAMES } from "./people.ts";

const FIELDS: Readonly<Record<Provider, { label: string; hint: string }>> = {
  ldap: {
    label: "Name or DN in the directory",
    hint: "The user can then also sign in with the password of the directory.",
  },
  oidc: {
    label: "Subject at the provider",
    hint: "The audit log shows it (sub) after a rejected sign-in of the person.",
  },
};

/** Links an account to a person of a directory or a provider, and unlinks it. */
export function IdentityDialog(props: {
  person: Person;
  providers: readonly Provider[];
  onClose: () => void;
  onDone: () => void;
}) {
  const { providers, onClose, onDone } = props;
  const { username, identities: linked } = props.person;
  const free = providers.filter((name) => !linked.some(({ provider }) => provider === name));
  const [chosen, setChosen] = useState(free[0]);
  const finish = (text: string): void => {
    showToast(text);
    onClose();
    onDone();
  };
  return (
    <Dialog title={`Sign-in methods of ${username}`} onClose={onClose}>
      {linked.map((identity) => (
        <LinkedIdentity key={identity.provider} identity={identity} onDone={finish} />
      ))}
      {free.length > 1 && (
        <SelectField
          label="Linked with"
          value={chosen}
          choices={free.map((value) => ({ value, name: PROVIDER_NAMES[value] }))}
          onChange={setChosen}
        />
      )}
      {chosen !== undefined && (
        <Form
          key={chosen}
          submit="Link"
          onCancel={onClose}
          initial={{ who: chosen === "ldap" ? username : "" }}
          fields={[{ name: "who", ...FIELDS[chosen], literal: true, autocomplete: "off" }]}
          onSubmit={async ({ who }) => {
            const body = { provider: chosen, who };
            const { label } = await call("POST /api/admin/users/:username/identities", {
              params: { username },
              body,
            });
            finish(`Linked ${username} to ${label}.`);
            return true;
          }}
        />
      )}
    </Dialog>
  );
}

function LinkedIdentity({ identity, onDone }: { identity: Identity; onDone: (text: string) => void }) {
  const { username, provider, label, last_used, suspended } = identity;
  const form = useSubmission(async () => {
    await call("DELETE /api/admin/users/:username/identities/:provider", {
      params: { username, provider },
    });
    onDone(`Unlinked ${username} from ${label}.`);
  });
  return (
    <>
      <p class="anywhere">
        {PROVIDER_NAMES[provider]}: {label}, last used <Time at={last_used} />
        {suspended !== null && ". The directory no longer admits this person."}
      </p>
      <FormError of={form} shown={[]} />
      <Button busy={form.busy} onClick={form.submit}>
        {`Unlink ${PROVIDER_NAMES[provider]}`}
      </Button>
    </>
  );
}
