import { useState } from "preact/hooks";
import { UsedLink } from "../account/used-link.tsx";
import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { PageHead } from "../components/layout.tsx";
import { definePage, useKey } from "../page.tsx";
import { call } from "../request.ts";

function VerifyEmail() {
  const key = useKey();
  const [verified, setVerified] = useState("");
  if (key === "") return <UsedLink />;
  if (verified !== "")
    return (
      <div class="narrow">
        <PageHead title="Your address is confirmed">labd sends your reminders to {verified}.</PageHead>
        <LinkButton look="primary" href={href("/profile")}>
          Open your profile
        </LinkButton>
      </div>
    );
  // Verified by a button, not by opening the page: programs that check e-mails open their links.
  return (
    <div class="narrow">
      <PageHead title="Confirm your e-mail address">labd sent you this link. It works once.</PageHead>
      <Form
        submit="Confirm address"
        initial={{}}
        fields={[]}
        onSubmit={async () => {
          const confirm = "POST /api/account/reminders/verification/confirm";
          setVerified((await call(confirm, { body: { key: key ?? "" } })).email);
        }}
      />
    </div>
  );
}

export const verifyEmailPage = definePage({
  name: "verify-email",
  paths: ["/verify-email"],
  title: "Confirm your e-mail address",
  keyed: true,
  View: VerifyEmail,
});
