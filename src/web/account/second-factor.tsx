import { useEffect, useRef, useState } from "preact/hooks";
import { Banner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Form, FormError, useSubmission } from "../components/form.tsx";
import { Tag } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { OneTimeSecret, useCopy } from "../components/one-time-secret.tsx";
import { showToast } from "../components/toast.tsx";
import { Time } from "../format.tsx";
import { type Answer, call } from "../request.ts";
import { codeField } from "./fields.tsx";

type SecondFactorState = Answer<"GET /api/account/second-factor">;
type Enrolment = Answer<"POST /api/account/second-factor">;

const FEW_CODES = 4;

/** The second factor of one's own account: its state, enrolment, recovery codes, removal. */
export function SecondFactor({ onEnrolled }: { onEnrolled?: () => void }) {
  const loaded = useLoaded("second-factor", (signal) => call("GET /api/account/second-factor", { signal }));
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const enrol = useSubmission(async () =>
    setEnrolment(await call("POST /api/account/second-factor", { body: {} })),
  );
  if (codes !== null) {
    const finish = (): void => {
      setCodes(null);
      loaded.reload();
      onEnrolled?.();
    };
    return <RecoveryCodes codes={codes} onSaved={finish} />;
  }
  if (enrolment !== null) {
    const finish = (made: string[]): void => {
      setEnrolment(null);
      setCodes(made);
      showToast("The second factor is on. All your other sessions have ended.");
    };
    return <EnrolmentSteps enrolment={enrolment} onDone={finish} onCancel={() => setEnrolment(null)} />;
  }
  return (
    <Loaded of={loaded}>
      {(state) =>
        state.on ? (
          <Enrolled state={state} onCodes={setCodes} onRemoved={loaded.reload} />
        ) : (
          <>
            <p>
              You then sign in with the password and a code. An authenticator app (TOTP) on your phone shows a
              new one every 30 seconds.
            </p>
            <FormError of={enrol} />
            <div class="actions">
              <Button busy={enrol.busy} onClick={enrol.submit}>
                Set up
              </Button>
            </div>
          </>
        )
      }
    </Loaded>
  );
}

function EnrolmentSteps(props: {
  enrolment: Enrolment;
  onDone: (codes: string[]) => void;
  onCancel: () => void;
}) {
  const { secret, uri, qr } = props.enrolment;
  return (
    <>
      <h2>1. Scan this code with the app</h2>
      <QrCode rows={qr} />
      <p>
        On this phone, <a href={uri}>open the app</a>. Or type the secret into it:
      </p>
      <OneTimeSecret
        label="Secret"
        value={secret.replace(/(.{4})(?=.)/g, "$1 ")}
        note="Time-based, six digits, 30 seconds. It is shown only once. Keep it secret."
      />
      <h2>2. Enter the code that the app shows</h2>
      <Form
        submit="Turn on"
        initial={{ code: "" }}
        fields={[{ ...codeField("app"), focus: false }]}
        onCancel={props.onCancel}
        onSubmit={async (body) => {
          const made = await call("POST /api/account/second-factor/confirm", { body });
          props.onDone(made.recovery_codes);
        }}
      />
    </>
  );
}

/** Dark on light in both themes, with the quiet zone that cameras need. */
function QrCode({ rows }: { rows: readonly string[] }) {
  const side = rows.length + 8;
  const dark = rows.flatMap((row, y) =>
    [...row.matchAll(/1+/g)].map(
      ({ 0: { length }, index }) => `M${index + 4} ${y + 4}h${length}v1h-${length}z`,
    ),
  );
  return (
    <svg class="qr" viewBox={`0 0 ${side} ${side}`} role="img" aria-label="QR code of the secret">
      <rect width={side} height={side} />
      <path d={dark.join("")} />
    </svg>
  );
}

function RecoveryCodes({ codes, onSaved }: { codes: readonly string[]; onSaved: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const text = `${codes.join("\n")}\n`;
  const { copy, status } = useCopy(text, "Select and copy the codes, or save the file.");
  return (
    <>
      <h2 tabIndex={-1} ref={heading}>
        Recovery codes
      </h2>
      <Banner tone="warn">
        If you lose your phone, each code signs you in once. They are shown only once: print them, or keep
        them with your passwords.
      </Banner>
      <ul class="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="actions">
        <Button look="primary" onClick={onSaved}>
          I have saved the codes
        </Button>
        <Button icon="copy" onClick={copy}>
          Copy
        </Button>
        <LinkButton
          icon="download"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download="labd-recovery-codes.txt"
        >
          Save as file
        </LinkButton>
        <span role="status">{status}</span>
      </div>
    </>
  );
}

const ACTIONS = {
  codes: {
    submit: "Replace codes",
    text: "The old recovery codes stop working.",
    look: "primary",
  },
  off: {
    submit: "Turn off",
    text: "You can then sign in with the password alone. To change phones, turn the second factor off and set it up again.",
    look: "danger",
  },
} as const;

function Enrolled(props: {
  state: SecondFactorState;
  onCodes: (codes: string[]) => void;
  onRemoved: () => void;
}) {
  const { since, recovery_codes: left, required } = props.state;
  const [chosen, choose] = useState<keyof typeof ACTIONS | null>(null);
  const action = chosen && ACTIONS[chosen];
  return (
    <>
      <p>
        <Tag tone="ok">on</Tag> since <Time at={since} />, {left} recovery {left === 1 ? "code" : "codes"}{" "}
        left.
        {required && " Your account must have a second factor."}
      </p>
      {left < FEW_CODES && <Banner tone="warn">Replace the recovery codes before you run out.</Banner>}
      {action ? (
        <Form
          submit={action.submit}
          look={action.look}
          initial={{ code: "" }}
          fields={[codeField("either")]}
          onCancel={() => choose(null)}
          onSubmit={async (body) => {
            if (chosen === "codes") {
              const made = await call("POST /api/account/second-factor/recovery-codes", { body });
              return props.onCodes(made.recovery_codes);
            }
            await call("POST /api/account/second-factor/remove", { body });
            showToast("The second factor is off.");
            props.onRemoved();
          }}
        >
          <p>{action.text}</p>
        </Form>
      ) : (
        <div class="actions">
          <Button onClick={() => choose("codes")}>Replace recovery codes</Button>
          <Button onClick={() => choose("off")}>Turn off</Button>
        </div>
      )}
    </>
  );
}
