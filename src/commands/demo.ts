import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listen, type Listening } from "../app/listen.ts";
import { ALL_SETTINGS, type Command } from "./command-line.ts";
import type { Config } from "../config.ts";
import { type InventorySample, loadInventory, SYSTEM_USER } from "../inventory/index.ts";
import { decode, readFasta } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import INVENTORY from "../sample/inventory.json";
import PROTEINS from "../sample/proteins.fasta" with { type: "text" };
import { ENDPOINT } from "../scoring/index.ts";
import { SAMPLE_CORPUS } from "./corpus.ts";
import { invitation, untilToldToStop } from "./serve.ts";
import { all, type Element, find, soapCall, textOf } from "./soap-call.ts";

/**
 * Human p53 and its destroyer: Phe19, Trp23 and Leu26 fill the cleft of MDM2 (Kussie PH et al. (1996) Science
 * 274:948-953). P..P stands beside it: a pattern so short that most of its matches mean nothing.
 */
const EXAMPLE = {
  accession: "P04637",
  protein: "human p53",
  partner: "MDM2",
  motifClass: "DEG_MDM2_SWIB_1",
  pattern: "P..P",
  firstResidue: "19",
  matchedText: "FSDLWKLL",
};
/** The freezers of the sample, in the specification's expression language. */
const EXPRESSION =
  '{"category":"equipment__name","operator":"icontains","value":"freezer"},{"category":"place__building","operator":"==","value":"A"}';

export const demo: Command = {
  name: "demo",
  summary: "Try everything: serve sample proteins and a sample inventory, score a motif, list freezers.",
  flags: [
    { name: "--once", sentence: "Do the main job and stop: exit code 0 only if both halves answered right." },
  ],
  settings: ALL_SETTINGS,
  example: "labd demo\nlabd demo --once && echo both halves work",
  async run(call) {
    const { config, origin } = call.configuration();
    if (origin.data_dir !== "default") refuseForeign(config.data_dir);
    const own = origin.data_dir === "default" ? mkdtempSync(join(tmpdir(), "labd-demo-")) : null;
    // The requests of the demonstration itself would drown what it prints.
    const quiet: Config = {
      ...config,
      backup_hours: 0,
      ...(origin.log === "default" ? { log: "problems" as const } : {}),
    };
    const service = await listen(own === null ? quiet : { ...quiet, data_dir: own }, { otherPort: true });
    try {
      await fill(service);
      process.stdout.write(await showScoring(service, config));
      process.stdout.write(await showInventory(service));
      if (call.has("--once")) {
        await service.stop();
      } else {
        process.stdout.write(farewell(service, own));
        await untilToldToStop(service);
      }
    } finally {
      await service.stop();
      if (own !== null) rmSync(own, { recursive: true, force: true });
    }
    return 0;
  },
};

/** Made beside the database that holds the sample, so that a laboratory's own records never get fictions among them. */
const MARK = "demo";

function refuseForeign(directory: string): void {
  if (existsSync(join(directory, "labd.sqlite")) && !existsSync(join(directory, MARK))) {
    throw new Problem(
      "invalid_setting",
      `data_dir: ${directory} holds records of its own, and the demonstration would put its sample among them. Name an empty directory, or none.`,
    );
  }
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, MARK), "This data directory was made by labd demo.\n");
}

/** Puts the embedded sample into the data directory; what is there already stays. */
async function fill(service: Listening): Promise<void> {
  await service.scoring.corpora.add({ name: SAMPLE_CORPUS, bytes: PROTEINS });
  loadInventory(service.database, service.clock, INVENTORY as InventorySample, SYSTEM_USER);
}

async function showScoring(service: Listening, config: Config): Promise<string> {
  const endpoint = `${service.url}${ENDPOINT}`;
  const namespace = config.soap_namespace;
  const query = readFasta(PROTEINS).find(({ accession }) => accession === EXAMPLE.accession);
  if (!query) throw wrong(`the sample lacks ${EXAMPLE.accession}`);
  const started = performance.now();
  const accepted = await soapCall(endpoint, namespace, "RunJob", [
    ["identifier", EXAMPLE.accession],
    ["querySequence", decode(query.residues)],
    ["scoringModel", "continuous"],
    ["regularExpression", EXAMPLE.pattern],
    ["elmIdentifierName", EXAMPLE.motifClass],
  ]);
  const job = find(accepted, "JobIdentifier")?.text ?? "";
  let status = "";
  while (status !== "finished") {
    const answer = await soapCall(endpoint, namespace, "GetStatus", [["JobIdentifier", job]]);
    status = find(answer, "Status")?.text ?? "";
    if (status === "failed") throw wrong(`the job failed: ${find(answer, "StatusDetails")?.text}`);
    if (status !== "finished") await Bun.sleep(20);
  }
  const result = await soapCall(endpoint, namespace, "GetResult", [["JobIdentifier", job]]);
  const milliseconds = Math.round(performance.now() - started);
  const prediction = find(result, "ConScorePrediction");
  if (!prediction) throw wrong("the finished job has no prediction");
  return printScoring(service.url, job, prediction, milliseconds, namespace);
}

function printScoring(
  url: string,
  job: string,
  prediction: Element,
  milliseconds: number,
  namespace: string,
): string {
  const homologs = all(prediction, "homolog").length;
  const matches = all(prediction, "pattern").flatMap((pattern) =>
    all(pattern, "motifMatch").map((match) => ({
      name: textOf(pattern, "elmIdentifierName") || textOf(pattern, "expression"),
      match,
    })),
  );
  const published = matches.find(
    ({ match }) =>
      textOf(match, "firstResidue") === EXAMPLE.firstResidue &&
      textOf(match, "matchedText") === EXAMPLE.matchedText,
  );
  if (!published) throw wrong(`the published match ${EXAMPLE.matchedText} was not found`);
  if (textOf(published.match, "verdict") !== "conserved")
    throw wrong(`the published match is ${textOf(published.match, "verdict")}`);
  const rows = matches.map(({ name, match }) => [
    name,
    `${textOf(match, "firstResidue")}–${textOf(match, "lastResidue")}`,
    textOf(match, "matchedText"),
    rounded(textOf(match, "conservationScore")),
    rounded(textOf(match, "expectedScore")),
    rounded(textOf(match, "zScore")),
    textOf(match, "verdict"),
  ]);
  const curl = [
    `curl -s ${url}${ENDPOINT} -H 'Content-Type: text/xml' --data-binary '`,
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>',
    `<GetResult xmlns="${namespace}"><JobIdentifier>${job}</JobIdentifier></GetResult>`,
    "</soap:Body></soap:Envelope>'",
  ].join("");
  return `
Conservation scoring (SOAP)
  Is the motif by which ${EXAMPLE.protein} (${EXAMPLE.accession}) binds ${EXAMPLE.partner} conserved? And what of ${EXAMPLE.pattern}?
  RunJob, GetStatus, GetResult: ${milliseconds} ms, ${homologs} homologs.

${table(["pattern", "residues", "match", "score", "expected", "z", "verdict"], rows)}

  ${curl}
`;
}

async function showInventory({ url }: Listening): Promise<string> {
  const parameters = new URLSearchParams({
    query_expression: EXPRESSION,
    ordering: "place__room,label",
    page_size: "6",
  });
  const address = `${url}/api/v2/locations/?${parameters}`;
  const response = await fetch(address);
  const page = (await response.json()) as {
    total: number;
    total_pages: number;
    results: { id: string; label: string }[];
  };
  if (response.status !== 200 || !(page.total > 0))
    throw wrong(`the list of locations was answered with ${response.status}`);
  const item = await fetch(`${url}/api/v2/locations/${page.results[0].id}/`);
  if (item.status !== 200) throw wrong(`a location of the list was answered with ${item.status}`);
  const rows = page.results.map(({ id, label }) => [label, id]);
  return `
Inventory (REST)
  Locations in freezers of building A: ${page.total}, the first ${rows.length} by room and label.

${table(["label", "id"], rows)}

  curl -s -G ${url}/api/v2/locations/ -d ordering=place__room,label --data-urlencode 'query_expression=${EXPRESSION}'
`;
}

function farewell({ url, setUp }: Listening, own: string | null): string {
  return `
Open in a browser
  ${url}/                         what is here
  ${url}/score                    score a motif, and see why
  ${url}/docs                     every address, parameter and answer
  ${url}/api/v2/locations/?format=api
  ${url}${ENDPOINT}?wsdl
${setUp === null ? "" : `\n${invitation(setUp)}\n`}
Serving until Ctrl-C${own === null ? "" : "; the sample data go with it"}.
`;
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column].length)));
  const line = (cells: string[]): string =>
    `    ${cells
      .map((cell, i) => cell.padEnd(widths[i]))
      .join("  ")
      .trimEnd()}`;
  return [line(head), line(widths.map((width) => "─".repeat(width))), ...rows.map(line)].join("\n");
}

const rounded = (text: string): string => (text === "" ? "–" : Number(text).toFixed(2));

const wrong = (text: string): Problem =>
  new Problem("internal", `The demonstration went wrong: ${text}.`, { cause: text });
