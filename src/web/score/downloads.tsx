import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { showToast } from "../components/toast.tsx";
import { send } from "../request.ts";
import { callsIn, type ScoringRequest } from "./program-calls.ts";

const FORMATS = [
  { format: "tsv", name: "TSV", about: "one row per match" },
  { format: "json", name: "JSON", about: "all data" },
  { format: "stockholm", name: "Stockholm", about: "the alignment at each match", extension: "sto" },
  { format: "fasta", name: "FASTA", about: "the alignment at each match" },
  { format: "a3m", name: "A3M", about: "the whole alignment" },
  { format: "newick", name: "Newick", about: "the tree", extension: "nwk" },
  { format: "gff3", name: "GFF3", about: "matches as features" },
  { format: "xml", name: "XML", about: "as in SOAP responses" },
];

/** Downloads of the result in every format. */
export const Downloads = ({ job, fileName }: { job: string; fileName: string }) => (
  <Card title="Download">
    <ul class="downloads">
      {FORMATS.map(({ format, name, about, extension = format }) => (
        <li key={format}>
          <a href={href(`/api/scoring/jobs/${job}/result`, { format })} download={`${fileName}.${extension}`}>
            {name}
          </a>{" "}
          <small>{about}</small>
        </li>
      ))}
    </ul>
  </Card>
);

export async function copyText(text: string, done: string, otherwise: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast(done);
  } catch {
    showToast(otherwise, "error");
  }
}

/** Copies the address of the page, which is not a secret of the person who opened it. */
export const copyLink = (): Promise<void> =>
  copyText(
    location.href,
    "Link copied. Everyone who has it can see this result.",
    "This browser does not allow copying. Copy the address of this page instead.",
  );

/** Programs that get the same result. */
export function ProgramCalls({ request }: { request: ScoringRequest }) {
  const [base, setBase] = useState<string | null>(null);
  const [namespace, setNamespace] = useState("");
  const [chosen, choose] = useState("curl");
  useEffect(() => {
    setBase(location.origin + href(""));
    // The namespace is a setting; the WSDL has it.
    void send("GET", "/soap/ConservationScorer", { query: { wsdl: "1" }, headers: { Accept: "text/xml" } })
      .then((response) => response.text())
      .then((wsdl) => setNamespace(wsdl.match(/targetNamespace="([^"]+)"/)?.[1] ?? ""))
      .catch(() => undefined);
  }, []);
  if (base === null) return null;
  const calls = callsIn(namespace);
  const call = calls.find(({ name }) => name === chosen)!;
  const text = call.print(request, base);
  return (
    <Card
      title="Use from a program"
      actions={
        <Button
          look="quiet"
          small
          icon="copy"
          onClick={() =>
            void copyText(
              text,
              "Copied.",
              "This browser does not allow copying. Select the text and copy it.",
            )
          }
        >
          Copy
        </Button>
      }
    >
      <div class="segment" role="group" aria-label="Language">
        {calls.map(({ name }) => (
          <button key={name} type="button" aria-pressed={name === chosen} onClick={() => choose(name)}>
            {name}
          </button>
        ))}
      </div>
      <p class="hint">{call.about}</p>
      <pre tabIndex={0} aria-label={`Call from ${call.name}`} data-call={call.name}>
        {text}
      </pre>
    </Card>
  );
}
