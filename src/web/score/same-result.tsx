import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { send } from "../request.ts";
import { type Asked, callsIn } from "./calls.ts";

const FORMS = [
  { format: "tsv", name: "TSV", about: "one row per match" },
  { format: "json", name: "JSON", about: "all that is known" },
  { format: "stockholm", name: "Stockholm", about: "the alignment at each match" },
  { format: "fasta", name: "FASTA", about: "the same, aligned" },
  { format: "a3m", name: "A3M", about: "the whole alignment" },
  { format: "newick", name: "Newick", about: "the tree" },
  { format: "gff3", name: "GFF3", about: "matches as features" },
  { format: "xml", name: "XML", about: "as SOAP answers it" },
];

/** The whole result in every form. */
export function Downloads({ job, fileName }: { job: string; fileName: string }) {
  return (
    <section class="card screen" aria-labelledby="downloads">
      <h2 id="downloads">Download</h2>
      <ul class="forms">
        {FORMS.map(({ format, name, about }) => (
          <li key={format}>
            <a
              href={href(`/api/scoring/jobs/${job}/result`, { format })}
              download={`${fileName}.${format === "stockholm" ? "sto" : format === "newick" ? "nwk" : format}`}
            >
              {name}
            </a>{" "}
            <small>{about}</small>
          </li>
        ))}
      </ul>
      <p class="hint">Each picture is saved by the buttons beside its title.</p>
    </section>
  );
}

/** How programs get the same. */
export function Calls({ asked }: { asked: Asked }) {
  const [base, setBase] = useState<string | null>(null);
  const [namespace, setNamespace] = useState("");
  const [chosen, choose] = useState("curl");
  useEffect(() => {
    setBase(location.origin + href(""));
    // It can be set at an installation: the WSDL has it.
    void send("GET", "/soap/ConservationScorer", { query: { wsdl: "1" }, headers: { Accept: "text/xml" } })
      .then((answer) => answer.text())
      .then((wsdl) => setNamespace(wsdl.match(/targetNamespace="([^"]+)"/)?.[1] ?? ""))
      .catch(() => undefined);
  }, []);
  if (base === null) return null;
  const calls = callsIn(namespace);
  const call = calls.find(({ name }) => name === chosen) ?? calls[0];
  const text = call.text(asked, base);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      showToast("Copied.");
    } catch {
      showToast("This browser does not let pages copy: select the text and copy it.", "error");
    }
  };
  return (
    <section class="card screen" aria-labelledby="calls">
      <h2 id="calls">The same by a program</h2>
      <div class="row" role="group" aria-label="Language">
        {calls.map(({ name }) => (
          <Button
            key={name}
            look={name === chosen ? "primary" : "plain"}
            aria-pressed={name === chosen}
            onClick={() => choose(name)}
          >
            {name}
          </Button>
        ))}
        <Button look="quiet" onClick={() => void copy()}>
          Copy
        </Button>
      </div>
      <p class="hint">{call.about}</p>
      <pre tabIndex={0} aria-label={`The call in ${call.name}`} data-call={call.name}>
        {text}
      </pre>
    </section>
  );
}
