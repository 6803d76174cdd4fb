import type { Model } from "./job.ts";

/** Programs that submit the same job and print its result; a test runs them. */

export interface ScoringRequest {
  identifier: string;
  sequence: string;
  model: Model;
  patterns: readonly string[];
  motifClasses: readonly string[];
}

interface Call {
  name: string;
  about: string;
  /** `base`: the address of the service. */
  print: (request: ScoringRequest, base: string) => string;
}

const submission = (request: ScoringRequest) => ({
  identifier: request.identifier,
  querySequence: request.sequence,
  scoringModel: request.model,
  ...(request.patterns.length > 0 ? { patterns: request.patterns } : {}),
  ...(request.motifClasses.length > 0 ? { motifClasses: request.motifClasses } : {}),
});

/** For text between single quotes of a shell. */
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
        print(pattern["name"] or pattern["expression"], match["start"], match["text"], match["verdict"], match["score"])
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
  querySequence = ${rText(request.sequence)},
  scoringModel = ${rText(request.model)}${["patterns", "motifClasses"]
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
print(read.delim(text = table)[, c("query", "pattern", "start", "match", "cs", "p", "verdict")])
`;

const soap =
  (namespace: string) =>
  (request: ScoringRequest, base: string): string => {
    const envelope = (body: string): string =>
      `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
    const element = (name: string, texts: readonly string[]): string =>
      texts.map((text) => `<${name}>${xml(text)}</${name}>`).join("");
    const run = `<RunJob xmlns="${namespace}">${element("identifier", [request.identifier])}${element("querySequence", [request.sequence])}${element("scoringModel", [request.model])}${element("regularExpression", request.patterns)}${element("elmIdentifierName", request.motifClasses)}</RunJob>`;
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
