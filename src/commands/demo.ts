import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listen, type Listening } from "../app/listen.ts";
import { type InventorySample, loadInventory, SYSTEM_USER } from "../inventory/index.ts";
import { decode, readFasta } from "../motif/index.ts";
import { createDirectory, createFile } from "../platform/owned-file.ts";
import { Problem } from "../problem.ts";
import INVENTORY from "../sample/inventory.json";
import PROTEINS from "../sample/proteins.fasta" with { type: "text" };
import { ENDPOINT } from "../scoring/index.ts";
import { ALL_SETTINGS, type Command } from "./command.ts";
import { SAMPLE_CORPUS } from "./corpus.ts";
import { all, type Element, find, escapeXml, soapCall, readText } from "./soap-call.ts";
import { serviceHint, untilStopped } from "./stop-signal.ts";
import { textTable } from "./text-table.ts";

/**
 * Human p53 and the ligase that degrades it: Phe19, Trp23 and Leu26 fill the cleft of MDM2 (Kussie PH et al. (1996)
 * Science 274:948-953). P..P, for contrast, is so short that most of its matches mean nothing.
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
/** The freezers of the sample, as a query_expression. */
const EXPRESSION =
  '{"category":"equipment__name","operator":"icontains","value":"freezer"},{"category":"place__building","operator":"==","value":"A"}';

export const demo: Command = {
  name: "demo",
  summary: "Serve sample proteins and a sample inventory, score a motif, and list freezers.",
  flags: { "--once": "Run the demonstration and stop; exit code 0 if both services responded correctly." },
  settings: ALL_SETTINGS,
  example: "labd demo\nlabd demo --once && echo both services work",
  async run(call) {
    const { config, origin } = call.configuration();
    const isTemporary = origin.data_dir === "default";
    if (!isTemporary) markDirectory(config.data_dir);
    const directory = isTemporary ? mkdtempSync(join(tmpdir(), "labd-demo-")) : config.data_dir;
    // A log of the demonstration's own requests would hide its output.
    const log = origin.log === "default" ? "problems" : config.log;
    const service = await listen(
      { ...config, data_dir: directory, backup_hours: 0, log },
      { otherPort: true },
    );
    try {
      const { corpora } = service.scoring;
      // The sample of an earlier version has other headers, but the same proteins.
      if (!corpora.list().some(({ name }) => name === SAMPLE_CORPUS))
        await corpora.add({ name: SAMPLE_CORPUS, bytes: PROTEINS });
      loadInventory(service.database, service.clock, INVENTORY as InventorySample, SYSTEM_USER);
      await call.print(await showScoring(service.url, config.soap_namespace));
      await call.print(await showInventory(service.url));
      if (call.has("--once")) return;
      await call.print(closingText(service, isTemporary));
      await untilStopped(service, call.streams);
    } finally {
      await service.stop();
      if (isTemporary) rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** Marks directories that hold the sample, so that it never mixes with a laboratory's records. */
const MARK = "demo";

function markDirectory(directory: string): void {
  if (existsSync(join(directory, "labd.sqlite")) && !existsSync(join(directory, MARK)))
    throw new Problem(
      "invalid_setting",
      `data_dir: ${directory} contains other records, which would be mixed with the sample data. Name an empty directory, or omit the setting.`,
    );
  createDirectory(directory);
  writeFileSync(createFile(join(directory, MARK)), "This data directory was made by labd demo.\n");
}

async function showScoring(url: string, namespace: string): Promise<string> {
  const query = readFasta(PROTEINS).find(({ accession }) => accession === EXAMPLE.accession);
  if (!query) throw failure(`the sample data do not contain ${EXAMPLE.accession}`);
  const soap = (operation: string, values: [string, string][]): Promise<Element> =>
    soapCall(`${url}${ENDPOINT}`, namespace, operation, values);
  const started = performance.now();
  const accepted = await soap("RunJob", [
    ["identifier", EXAMPLE.accession],
    ["querySequence", decode(query.residues)],
    ["scoringModel", "continuous"],
    ["regularExpression", EXAMPLE.pattern],
    ["elmIdentifierName", EXAMPLE.motifClass],
  ]);
  const job = find(accepted, "JobIdentifier")?.text ?? "";
  for (let status = ""; status !== "finished"; await Bun.sleep(status === "finished" ? 0 : 20)) {
    const response = await soap("GetStatus", [["JobIdentifier", job]]);
    status = find(response, "Status")?.text ?? "";
    if (status === "failed") throw failure(`the job failed: ${find(response, "StatusDetails")?.text}`);
  }
  const prediction = find(await soap("GetResult", [["JobIdentifier", job]]), "ConScorePrediction");
  if (!prediction) throw failure("the finished job has no prediction");
  const milliseconds = Math.round(performance.now() - started);
  return `
Conservation scoring (SOAP)
  Is the motif by which ${EXAMPLE.protein} (${EXAMPLE.accession}) binds ${EXAMPLE.partner} conserved? And ${EXAMPLE.pattern}?
  RunJob, GetStatus, GetResult: ${milliseconds} ms, ${all(prediction, "homolog").length} homologs.

${matchTable(prediction)}
  curl -s ${url}${ENDPOINT} -H 'Content-Type: text/xml' --data-binary '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><GetResult xmlns="${escapeXml(namespace)}"><JobIdentifier>${job}</JobIdentifier></GetResult></soap:Body></soap:Envelope>'
`;
}

/** The matches as a table. @throws Problem internal unless the published match is conserved */
function matchTable(prediction: Element): string {
  const matches = all(prediction, "pattern").flatMap((pattern) =>
    all(pattern, "motifMatch").map((match) => ({
      name: readText(pattern, "elmIdentifierName") || readText(pattern, "expression"),
      text: (element: string) => readText(match, element),
    })),
  );
  const published = matches.find(
    ({ text }) =>
      text("firstResidue") === EXAMPLE.firstResidue && text("matchedText") === EXAMPLE.matchedText,
  );
  if (!published) throw failure(`the published match ${EXAMPLE.matchedText} was not found`);
  if (published.text("verdict") !== "conserved")
    throw failure(`the published match is ${published.text("verdict")}`);
  const rows = matches.map(({ name, text }) => [
    name,
    `${text("firstResidue")}–${text("lastResidue")}`,
    text("matchedText"),
    rounded(text("zScore")),
    text("overallVerdict"),
    `${text("keptCount")} of ${text("homologCount")}`,
    rounded(text("conservationScore")),
    rounded(text("expectedScore")),
    text("verdict"),
  ]);
  const head = ["pattern", "residues", "match", "z", "verdict", "kept in", "score", "expected"];
  return indented(textTable([...head, "conservation"], rows));
}

async function showInventory(url: string): Promise<string> {
  const ordering = "place__room,label";
  const parameters = new URLSearchParams({ query_expression: EXPRESSION, ordering, page_size: "6" });
  const response = await fetch(`${url}/api/v2/locations/?${parameters}`);
  const page = (await response.json()) as { total: number; results: { id: string; label: string }[] };
  if (response.status !== 200 || !(page.total > 0))
    throw failure(`the list of locations returned status ${response.status}`);
  const item = await fetch(`${url}/api/v2/locations/${page.results[0].id}/`);
  if (item.status !== 200) throw failure(`a location of the list returned status ${item.status}`);
  const rows = page.results.map(({ id, label }) => [label, id]);
  return `
Inventory (REST)
  Locations in freezers of building A: ${page.total}, the first ${rows.length} by room and label.

${indented(textTable(["label", "id"], rows))}
  curl -s -G ${url}/api/v2/locations/ -d ordering=${ordering} --data-urlencode 'query_expression=${EXPRESSION}'
`;
}

const closingText = ({ url, setUp }: Listening, isTemporary: boolean): string => `
Open in a browser
  ${url}/                         overview
  ${url}/score                    score a motif
  ${url}/docs                     API reference
  ${url}/api/v2/locations/?format=api
  ${url}${ENDPOINT}?wsdl
${setUp === null ? "" : `\n${serviceHint(setUp)}\n`}
Serving until Ctrl-C${isTemporary ? "; the sample data are deleted then" : ""}.
`;

const indented = (text: string): string => text.replace(/^(?=.)/gm, "    ");
const rounded = (text: string): string => (text === "" ? "–" : Number(text).toFixed(2));
const failure = (text: string): Problem =>
  new Problem("internal", `The demonstration failed: ${text}.`, { cause: text });
