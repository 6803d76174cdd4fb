import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Card, ClosedCard } from "../components/layout.tsx";
import { showToast } from "../components/toast.tsx";
import { send } from "../request.ts";
import { type Job, MAX_PER_SOAP_JOB, type Model } from "./job.ts";
import { Segment } from "../components/segment.tsx";

const FORMATS = [
  { format: "tsv", name: "TSV", about: "one row per match" },
  { format: "json", name: "JSON", about: "all data" },
  { format: "stockholm", name: "Stockholm", about: "the alignment, with the matches", extension: "sto" },
  { format: "fasta", name: "FASTA", about: "the alignment" },
  { format: "a3m", name: "A3M", about: "the alignment, in columns of the protein" },
  { format: "clustal", name: "Clustal", about: "the alignment", extension: "aln" },
  { format: "newick", name: "Newick", about: "the tree", extension: "nwk" },
  { format: "gff3", name: "GFF3", about: "matches as features" },
  { format: "bed", name: "BED", about: "places of the matches" },
  { format: "jalview-features", name: "Jalview features", about: "the matches", extension: "features" },
  {
    format: "jalview-annotations",
    name: "Jalview annotations",
    about: "conservation and disorder",
    extension: "annotations",
  },
  { format: "eln", name: "ELN", about: "an archive for laboratory notebooks" },
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

/** A button that copies a text of the page. */
export const CopyButton = ({ text, done }: { text: string; done: string }) => (
  <Button
    look="quiet"
    small
    icon="copy"
    onClick={() =>
      void copyText(text, done, "This browser does not allow copying. Select the text and copy it.")
    }
  >
    Copy
  </Button>
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

/** The result as XML, and programs that get the same result. */
export function ProgramCalls({ request, job }: { request: ScoringRequest; job: string }) {
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
  const calls = makeCalls(request, namespace);
  const call = calls.find(({ name }) => name === chosen) ?? calls[0];
  const text = call.print(request, base);
  return (
    <ClosedCard title={<h2>Use from a program</h2>}>
      <div class="row between">
        <Segment
          label="Language"
          value={call.name}
          choices={calls.map(({ name }) => [name, name])}
          onChange={choose}
        />
        <CopyButton text={text} done="Copied." />
      </div>
      <p class="hint">
        {call.about} The result{" "}
        <a href={href(`/api/scoring/jobs/${job}/result`, { format: "xml" })}>as XML</a>, as in SOAP responses.
      </p>
      <pre tabIndex={0} aria-label={`Call from ${call.name}`} data-call={call.name}>
        {text}
      </pre>
    </ClosedCard>
  );
}

/** Programs that submit the same job and print its result; a test runs them. */

export interface ScoringRequest {
  identifier: string;
  /** An alignment instead of proteins. */
  querySequence?: string;
  alignment?: string;
  scoringModel: Model;
  patterns: readonly string[];
  motifClasses: readonly string[];
  homologs?: NonNullable<Job["homologs"]>;
}

interface Call {
  name: string;
  about: string;
  /** `base`: the address of the service. */
  print: (request: ScoringRequest, base: string) => string;
}

const submission = (request: ScoringRequest) => ({
  ...request,
  patterns: request.patterns.length > 0 ? request.patterns : undefined,
  motifClasses: request.motifClasses.length > 0 ? request.motifClasses : undefined,
});

/** Escapes text between single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", String.raw`'\''`);

const xml = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]!);

const python = (request: ScoringRequest, base: string): string => `import json
import time
from urllib.request import Request, urlopen

BASE = ${JSON.stringify(`${base}/api/scoring`)}


def call(address, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    with urlopen(Request(address, data, headers)) as answer:
        return json.load(answer)


job = call(BASE + "/jobs", json.loads(r'''${JSON.stringify(submission(request), null, 2).replaceAll("'", String.raw`\u0027`)}'''))
while job["ended"] is None:
    time.sleep(0.2)
    job = call(job["links"]["self"])
if job["state"] != "finished":
    raise SystemExit(job["failure"])
for pattern in call(job["links"]["result"])["patterns"]:
    for match in pattern["matches"]:
        print(pattern["name"] or pattern["expression"], match["start"], match["text"], match["verdict"], match["overallPValue"])
`;

const curl = (
  request: ScoringRequest,
  base: string,
): string => `job=$(curl -s ${base}/api/scoring/jobs -H 'Content-Type: application/json' -d '${quoted(
  JSON.stringify(submission(request), null, 2),
)}' | sed 's/.*"self":"\\([^"]*\\)".*/\\1/')
curl -sN "$job/events" > /dev/null
curl -s "$job/result?format=tsv"
`;

const rText = (text: string): string => JSON.stringify(text);

const r = (request: ScoringRequest, base: string): string => `library(httr)

base <- ${rText(`${base}/api/scoring`)}

read <- function(answer) {
  value <- content(answer, as = "parsed", type = "application/json")
  if (http_error(answer)) stop(value$message)
  value
}

job <- read(POST(paste0(base, "/jobs"), encode = "json", body = list(
  identifier = ${rText(request.identifier)},
  querySequence = ${rText(request.querySequence ?? "")},
  scoringModel = ${rText(request.scoringModel)}${["patterns", "motifClasses"]
    .map((name) => [name, request[name as "patterns"]] as const)
    .filter(([, texts]) => texts.length > 0)
    .map(([name, texts]) => `,\n  ${name} = list(${texts.map(rText).join(", ")})`)
    .join("")}
)))
while (is.null(job$ended)) {
  Sys.sleep(0.2)
  job <- read(GET(job$links$self))
}
table <- content(GET(job$links$result, query = list(format = "tsv")), as = "text", encoding = "UTF-8")
print(read.delim(text = table, comment.char = "#")[, c("query", "pattern", "start", "match", "overall_p", "verdict")])
`;

const soap =
  (namespace: string) =>
  (request: ScoringRequest, base: string): string => {
    const envelope = (body: string): string =>
      `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
    const element = (name: string, texts: readonly string[]): string =>
      texts.map((text) => `<${name}>${xml(text)}</${name}>`).join("");
    const run = `<RunJob xmlns="${namespace}">${element("identifier", [request.identifier])}${element("querySequence", [request.querySequence ?? ""])}${element("scoringModel", [request.scoringModel])}${element("regularExpression", request.patterns)}${element("elmIdentifierName", request.motifClasses)}</RunJob>`;
    return `soap() { curl -s ${base}/soap/ConservationScorer -H 'Content-Type: text/xml; charset=utf-8' --data-binary @-; }
job=$(soap <<'XML' | sed -n 's/.*<[^>/]*JobIdentifier>\\([^<]*\\)<.*/\\1/p'
${envelope(run)}
XML
)
ask() { echo '${envelope(`<'"$1"' xmlns="${namespace}"><JobIdentifier>'"$job"'</JobIdentifier></'"$1"'>`)}' | soap; }
while ask GetStatus | grep -qE 'Status>(queued|running)<'; do sleep 0.2; done
ask GetResult
`;
  };

/** `namespace`: of the SOAP service. */
export const callsIn = (namespace: string): readonly Call[] => [
  { name: "curl", about: "For a shell. Prints a table.", print: curl },
  { name: "Python", about: "Needs only the standard library.", print: python },
  { name: "R", about: "Needs httr and jsonlite.", print: r },
  { name: "SOAP", about: "For a shell. SOAP toolkits do the same from the WSDL.", print: soap(namespace) },
];

/** The calls that can make a request: SOAP takes fewer motifs than JSON, and no choice of homologs. */
export const makeCalls = (request: ScoringRequest, namespace: string): Call[] =>
  callsIn(namespace).filter(({ name, print }) => {
    // An alignment may be longer than an argument of a shell may be.
    if (request.alignment !== undefined) return print === python;
    if (request.homologs) return print === curl || print === python;
    return (
      name !== "SOAP" || Math.max(request.patterns.length, request.motifClasses.length) <= MAX_PER_SOAP_JOB
    );
  });
