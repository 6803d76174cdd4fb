import { useEffect, useRef } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { showToast } from "../components/toast.tsx";
import { Time } from "../format.tsx";
import { type Answer, call } from "../request.ts";

type Reminders = Answer<"GET /api/account/reminders">;

/** Sends a link to the address of the account, which proves that it is its owner's. @returns the address */
export const sendVerification = async (): Promise<string> =>
  (await call("POST /api/account/reminders/verification")).email;

/** Reminders by e-mail, which e-mails lead to by #reminders. */
export function RemindersCard() {
  const loaded = useLoaded("reminders", (signal) => call("GET /api/account/reminders", { signal }));
  const place = useRef<HTMLDivElement>(null);
  const isLoaded = loaded.value !== undefined;
  useEffect(() => {
    if (isLoaded && location.hash === "#reminders") place.current?.scrollIntoView();
  }, [isLoaded]);
  return (
    <div id="reminders" ref={place}>
      <Card title="Reminders">
        <p class="muted">
          An e-mail a day if stock of yours or of your groups is newly empty, below its minimum, expired, or
          expires within 30 days. It contains names, places and amounts.
        </p>
        <Loaded of={loaded}>
          {(value) => <Switch value={value} onChanged={(next) => loaded.update(() => next)} />}
        </Loaded>
      </Card>
    </div>
  );
}

function Switch({ value, onChanged }: { value: Reminders; onChanged: (next: Reminders) => void }) {
  const { enabled, available, email, verified, sent, error } = value;
  const form = useSubmission(async () => {
    onChanged(await call("PUT /api/account/reminders", { body: { enabled: !enabled } }));
    const started = verified ? `Reminders go to ${email}.` : `Open the link that labd sends to ${email}.`;
    showToast(enabled ? "You get no reminders any more." : started);
  });
  if (!available && !enabled)
    return (
      <p>
        This server cannot send e-mail yet: an administrator must set <code>smtp_url</code>.
      </p>
    );
  return (
    <>
      <FormError of={form} />
      <p>
        {enabled ? `On. Reminders go to ${email || "no address; add one above"}.` : "Off."}{" "}
        {sent !== null && (
          <>
            The last e-mail was sent <Time at={sent} />.
          </>
        )}
      </p>
      {available && email !== "" && !verified && <Unverified email={email} />}
      {error !== null && <p class="anywhere">The last one was not sent. {error}</p>}
      <div class="actions">
        <Button busy={form.busy} onClick={() => form.submit()}>
          {enabled ? "Switch reminders off" : "Switch reminders on"}
        </Button>
      </div>
    </>
  );
}

function Unverified({ email }: { email: string }) {
  const form = useSubmission(async () => {
    showToast(`Sent a link to ${await sendVerification()}.`);
  });
  return (
    <>
      <p class="anywhere">
        {email} is not verified: reminders wait until you open the link that labd sends there.{" "}
        <Button small busy={form.busy} onClick={() => form.submit()}>
          Send link again
        </Button>
      </p>
      <FormError of={form} />
    </>
  );
}

/** Tests the mail server, for administrators. */
export function EmailCard() {
  const form = useSubmission(async () => {
    const { email } = await call("POST /api/admin/reminders/test");
    showToast(`Sent a test message to ${email}.`);
  });
  return (
    <Card
      title="E-mail"
      actions={
        <Button small busy={form.busy} onClick={() => form.submit()}>
          Send test message
        </Button>
      }
    >
      <p class="lead">
        Users switch on reminders of expiring and low stock in their{" "}
        <a href={`${href("/profile")}#reminders`}>profile</a>. The test message goes to the address of your
        account.
      </p>
      <FormError of={form} focus />
    </Card>
  );
}
