import type { Model } from "./job.ts";

/** The calls that give the same result, for those who go on with programs. What they print is tested. */

export interface Asked {
  identifier: string;
  sequence: string;
  model: Model;
  patterns: readonly string[];
  motifClasses: readonly string[];
}

/** `base`: the address of the service as this browser reaches it. */
interface Call {
  name: string;
  about: string;
  text: (asked: Asked, base: string) => string;
}

const submission = (asked: Asked) => ({
  identifier: asked.identifier,
  querySequence: asked.sequence,
  scoringModel: asked.model,
  ...(asked.patterns.length > 0 ? { patterns: asked.patterns } : {}),
  ...(asked.motifClasses.length > 0 ? { motifClasses: asked.motifClasses } : {}),
});

/** Text between single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", String.raw`'\''`);

const xml = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]!);

const python = (asked: Asked, base: string): string => `import json
import time
from urllib.request import Request, urlopen

BASE = ${JSON.stringify(`${base}/api/scoring`)}


def call(address, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    with urlopen(Request(address, data, headers)) as answer:
        return json.load(answer)


job = call(BASE + "/jobs", json.loads(r'''${JSON.stringify(submission(asked), null, 2).replaceAll("'", String.raw`\u0027`)}'''))
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
  asked: Asked,
  base: string,
): string => `job=$(curl -s ${base}/api/scoring/jobs -H 'Content-Type: application/json' -d '${quoted(
  JSON.stringify(submission(asked), null, 2),
)}' | sed 's/.*"self":"\\([^"]*\\)".*/\\1/')
curl -sN "$job/events" > /dev/null
curl -s "$job/result?format=tsv"
`;

const rText = (text: string): string => JSON.stringify(text);

const r = (asked: Asked, base: string): string => `library(httr)

base <- ${rText(`${base}/api/scoring`)}

read <- function(answer) {
  value <- content(answer, as = "parsed", type = "application/json")
  if (http_error(answer)) stop(value$message)
  value
}

job <- read(POST(paste0(base, "/jobs"), encode = "json", body = list(
  identifier = ${rText(asked.identifier)},
  querySequence = ${rText(asked.sequence)},
  scoringModel = ${rText(asked.model)}${["patterns", "motifClasses"]
    .map((name) => [name, asked[name as "patterns"]] as const)
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
  (asked: Asked, base: string): string => {
    const envelope = (body: string): string =>
      `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
    const element = (name: string, texts: readonly string[]): string =>
      texts.map((text) => `<${name}>${xml(text)}</${name}>`).join("");
    const run = `<RunJob xmlns="${namespace}">${element("identifier", [asked.identifier])}${element("querySequence", [asked.sequence])}${element("scoringModel", [asked.model])}${element("regularExpression", asked.patterns)}${element("elmIdentifierName", asked.motifClasses)}</RunJob>`;
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

/** `namespace`: that of the SOAP service. */
export const callsIn = (namespace: string): readonly Call[] => [
  { name: "curl", about: "In a shell; prints the table.", text: curl },
  { name: "Python", about: "Nothing but the standard library.", text: python },
  { name: "R", about: "With httr and jsonlite.", text: r },
  { name: "SOAP", about: "In a shell; any SOAP toolkit does the same from the WSDL.", text: soap(namespace) },
];
