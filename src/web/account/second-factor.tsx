import { useEffect, useRef, useState } from "preact/hooks";
import { Time } from "../format.tsx";
import { OneTimeSecret } from "../components/one-time-secret.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { showToast } from "../components/toast.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { requestJson, get } from "../request.ts";
import { CodeField } from "./code-field.tsx";

const PATH = "/api/account/second-factor";

interface State {
  on: boolean;
  since: string | null;
  recovery_codes: number;
  required: boolean;
}
interface Begun {
  secret: string;
  uri: string;
  /** Rows of a QR code, 1 for dark. */
  qr: string[];
}

/** Fewer than this, and it is time for new ones. */
const FEW = 4;

/** The own second factor: whether there is one, setting it up, new recovery codes, taking it away. */
export function SecondFactor({ onKept }: { onKept?: () => void }) {
  const { value, error, reload } = useLoaded("second-factor", (signal) => get<State>(PATH, {}, signal));
  const [begun, setBegun] = useState<Begun | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const beginning = useSubmission(async () => setBegun(await requestJson<Begun>("POST", PATH)));
  if (error !== undefined) return <ErrorBanner error={error} retry={reload} />;
  if (codes !== null)
    return (
      <RecoveryCodes
        codes={codes}
        onKept={() => {
          setCodes(null);
          reload();
          onKept?.();
        }}
      />
    );
  if (begun !== null)
    return (
      <Enrolment
        begun={begun}
        onDone={(made) => {
          setBegun(null);
          setCodes(made);
          showToast("The second factor is on. Everywhere else you are signed out.");
        }}
        onClose={() => setBegun(null)}
      />
    );
  if (value === undefined) return null;
  if (value.on) return <TurnedOn state={value} onCodes={setCodes} onOff={reload} />;
  return (
    <>
      <p>
        An app on your phone shows a code that changes every 30 seconds, and signing in asks for it besides
        the password. Any app for codes by time (TOTP) will do.
      </p>
      <FormError of={beginning} />
      <form onSubmit={beginning.submit}>
        <Button type="submit" busy={beginning.busy}>
          Set it up
        </Button>
      </form>
    </>
  );
}

function Enrolment(props: { begun: Begun; onDone: (codes: string[]) => void; onClose: () => void }) {
  const { secret, uri, qr } = props.begun;
  const [code, setCode] = useState("");
  const form = useSubmission(async () => {
    const made = await requestJson<{ recovery_codes: string[] }>("POST", `${PATH}/confirm`, {
      body: { code },
    });
    props.onDone(made.recovery_codes);
  });
  return (
    <>
      <ol class="steps">
        <li>
          <p>Scan this with the app:</p>
          <QrCode rows={qr} />
          <p>
            On this very phone: <a href={uri}>open the app</a>. Or type this into it:
          </p>
          <OneTimeSecret
            label="Secret"
            value={secret.replace(/(.{4})(?=.)/g, "$1 ")}
            note="By time, six digits, every 30 seconds. It is shown this once; nobody else may see it."
          />
        </li>
        <li>
          <p>Type the code that the app shows now:</p>
          <FormError of={form} />
          <form onSubmit={form.submit}>
            <CodeField kind="app" value={code} onInput={setCode} errors={form.fields.code} />
            <p class="actions">
              <Button look="primary" type="submit" busy={form.busy}>
                Turn it on
              </Button>
              <Button onClick={props.onClose}>Leave it</Button>
            </p>
          </form>
        </li>
      </ol>
    </>
  );
}

/** Dark on light whatever the page looks like, with the quiet zone that cameras need. */
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

function RecoveryCodes({ codes, onKept }: { codes: readonly string[]; onKept: () => void }) {
  const [said, say] = useState("");
  const heading = useRef<HTMLParagraphElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const text = `${codes.join("\n")}\n`;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
    } catch {
      // Only pages by HTTPS, or of this machine, may write to the clipboard.
      say("Select and copy them, or save the file.");
    }
  };
  return (
    <div class="note warn">
      <p tabIndex={-1} ref={heading}>
        <strong>Recovery codes</strong>
      </p>
      <p>
        For the day when the phone is lost: each signs in once, in the place of a code. They are shown this
        once. Print them, or keep them with your passwords.
      </p>
      <ul class="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <p class="row">
        <Button onClick={() => void copy()}>Copy</Button>
        <LinkButton
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download="labd-recovery-codes.txt"
        >
          Save as a file
        </LinkButton>
        <span role="status">{said}</span>
      </p>
      <Button look="primary" onClick={onKept}>
        I have kept them
      </Button>
    </div>
  );
}

function TurnedOn(props: { state: State; onCodes: (codes: string[]) => void; onOff: () => void }) {
  const { since, recovery_codes: left, required } = props.state;
  const [wanted, want] = useState<"codes" | "off" | null>(null);
  const [code, setCode] = useState("");
  const form = useSubmission(async () => {
    if (wanted === "codes") {
      const made = await requestJson<{ recovery_codes: string[] }>("POST", `${PATH}/recovery-codes`, {
        body: { code },
      });
      props.onCodes(made.recovery_codes);
    } else {
      await requestJson("POST", `${PATH}/remove`, { body: { code } });
      showToast("The second factor is off.");
      props.onOff();
    }
  });
  return (
    <>
      <p>
        <span class="tag good">on</span> Since <Time at={since} />.{" "}
        {left === 1 ? "1 recovery code is" : `${left} recovery codes are`} left.
        {required && " Your account has to have one."}
      </p>
      {left < FEW && <p class="note warn">Make new recovery codes before the last is used.</p>}
      {wanted === null ? (
        <p class="actions">
          <Button onClick={() => want("codes")}>New recovery codes</Button>
          <Button onClick={() => want("off")}>Turn it off</Button>
        </p>
      ) : (
        <form onSubmit={form.submit}>
          <p>
            {wanted === "codes"
              ? "Those from before are good for nothing then."
              : "The password alone signs in then; to change the phone, turn it off and set it up anew."}
          </p>
          <FormError of={form} />
          <CodeField kind="either" value={code} onInput={setCode} errors={form.fields.code} focus />
          <p class="actions">
            <Button look={wanted === "codes" ? "primary" : "danger"} type="submit" busy={form.busy}>
              {wanted === "codes" ? "Make new ones" : "Turn it off"}
            </Button>
            <Button
              onClick={() => {
                want(null);
                setCode("");
              }}
            >
              Leave it
            </Button>
          </p>
        </form>
      )}
    </>
  );
}
