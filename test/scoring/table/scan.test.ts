import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Static } from "typebox";
import { ResultSchema } from "../../../src/scoring/prediction/prediction.ts";
import { parse, schema } from "../../../src/platform/schema.ts";
import { type Scan, makeScan, ScanSchema } from "../../../src/scoring/results/scan.ts";
import { starterClasses } from "../../../src/scoring/corpus/motif-classes.ts";
import { type JointScanObject, JointScanSchema } from "../../../src/scoring/results/joint-scan.ts";
import { currentPrediction } from "../../../src/scoring/table/earlier-match.ts";
import { VERDICTS } from "../../../src/scoring/table/verdict.ts";
import { SAMPLE } from "../sample-prediction.ts";
import { withoutComments } from "../../fixtures/without-comments.ts";
import { ended, openScoringAlone, P53, type ScoringAlone, scoreDirectly } from "../scoring-harness.ts";

setDefaultTimeout(300_000);

let service: ScoringAlone;
/** A scan of p53 for all built-in classes. */
let job: string;
let scan: Scan;
beforeAll(async () => {
  service = await openScoringAlone({ workers: 1, corpus: true });
  const body = { accession: "P04637", allMotifClasses: true };
  job = (await service.ask("POST", "/jobs", { body })).json.id;
  await ended(service, job);
  scan = (await service.ask("GET", `/jobs/${job}/scan`)).json;
});
afterAll(() => service.close());

const NAMES = starterClasses().map(({ name }) => name);
const show = async (query: string): Promise<Scan> =>
  (await service.ask("GET", `/jobs/${job}/scan?${query}`)).json;

test("a scan scores a protein for all classes as single jobs do", async () => {
  expect(() => parse(schema(ScanSchema), scan)).not.toThrow();
  expect(scan).toMatchObject({ identifier: "P04637", queryLength: 393, classes: NAMES.length });
  expect(scan.disorder).toHaveLength(393);
  const single = scoreDirectly(service.scoring, {
    fasta: `>p53\n${P53}`,
    patterns: [],
    motifClasses: NAMES,
    scoringModel: "continuous",
  })[0].prediction;
  const matches = single.patterns.flatMap(({ name, matches: found }) =>
    found.map(({ start, z, overallPValue, kept }) => ({ motif: name, start, z, overallPValue, kept })),
  );
  expect(matches.length).toBeGreaterThan(20);
  const scanned = scan.matches
    .toSorted((a, b) => a.number - b.number)
    .map(({ motif, start, z, overallPValue, kept }) => ({ motif, start, z, overallPValue, kept }));
  expect(scanned).toEqual(JSON.parse(JSON.stringify(matches)));
  // The number of a match leads to it on the result page.
  expect(scan.matches.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
    matches.map((_, i) => i + 1),
  );
});

function expectByEvidence({ matches }: Pick<Scan, "matches">): void {
  const order = matches.map(({ verdict, z }) => [Object.keys(VERDICTS).indexOf(verdict), -z!] as const);
  expect(order).toEqual(order.toSorted(([a, x], [b, y]) => a - b || x - y));
}

test("matches are sorted by verdict and z, judged by P, marked by q, and typed", () => {
  expect(scan.tested).toBe(scan.matches.length);
  expectByEvidence(scan);
  for (const { q, overallPValue: p, verdict, ...match } of scan.matches) {
    expect(verdict).toBe(p! <= 0.02 ? "likely functional" : p! <= 0.1 ? "possible" : "no evidence");
    const former = { overallVerdict: verdict, label: verdict };
    expect(match).toMatchObject({
      ...former,
      standsOut: q! <= 0.05 ? "q ≤ 0.05" : q! <= 0.2 ? "q ≤ 0.2" : null,
    });
  }
  const findType = (name: string) => scan.matches.find(({ motif }) => motif === name)?.type;
  expect([findType("MDM2-SWIB"), findType("WW-PIN1"), findType("Polo-box")]).toEqual(["DEG", "DOC", null]);
});

test("filters leave out matches and keep the q-values", async () => {
  const ids = (found: Scan): number[] => found.matches.map(({ number }) => number);
  const kept = (condition: (match: Scan["matches"][number]) => boolean): number[] =>
    scan.matches.filter(condition).map(({ number }) => number);
  const byType = await show("type=LIG,DOC");
  expect(ids(byType)).toEqual(kept(({ type }) => type === "LIG" || type === "DOC"));
  expect(ids(byType).length).toBeLessThan(scan.matches.length);
  expect(byType.matches[0].q).toBe(scan.matches.find(({ type }) => type === "LIG" || type === "DOC")!.q);
  expect(ids(await show("disordered=true"))).toEqual(kept(({ disorder }) => disorder! > 0.5));
  expect(ids(await show("disordered=false"))).toEqual(kept(({ disorder }) => disorder! <= 0.5));
  expect(ids(await show("type=other"))).toEqual(kept(({ type }) => type === null));
  expect(ids(await show("best=true"))).toEqual(kept(({ isBest }) => isBest === true));
  expect(ids(await show("label=possible,no+evidence"))).toEqual(
    kept(({ verdict }) => verdict !== "likely functional"),
  );
  const limit = scan.matches[4].q!;
  expect(ids(await show(`max_q=${limit}`))).toEqual(kept(({ q }) => q! <= limit));
});

test("TSV and GFF3 contain the same matches", async () => {
  const tsv = await service.ask("GET", `/jobs/${job}/scan?format=tsv`);
  expect(tsv.headers.get("content-type")).toStartWith("text/tab-separated-values");
  const [head, ...rows] = withoutComments(tsv.text).trimEnd().split("\n");
  expect(head.split("\t").slice(0, 9)).toEqual(
    ["query", "class", "type", "start", "end", "match", "overall_p", "q", "label"], // prettier-ignore
  );
  expect(rows.map((row) => row.split("\t").slice(1, 5))).toEqual(
    scan.matches.map(({ motif, type, start, end }) => [motif, type ?? "", String(start), String(end)]),
  );
  const printed = (await service.ask("GET", `/jobs/${job}/scan?format=gff3&type=DEG`)).text;
  const gff3 = withoutComments(printed).trimEnd().split("\n");
  expect(gff3.slice(0, 2)).toEqual(["##gff-version 3", "##sequence-region P04637 1 393"]);
  const degrons = scan.matches.filter(({ type }) => type === "DEG");
  expect(gff3.slice(2).map((line) => line.split("\t").slice(2, 5))).toEqual(
    degrons.map(({ start, end }) => ["polypeptide_motif", String(start), String(end)]),
  );
  expect(gff3[2]).toContain("Name=MDM2-SWIB;type=DEG;match=FSDLWKLL;");
});

test.each([
  ["type=LIG,XYZ", "type"],
  ["max_q=2", "max_q"],
  ["label=good", "label"],
  ["disordered=maybe", "disordered"],
  ["region=other", "region"],
  ["order=-none", "order"],
  ["format=xml", "format"],
  ["sort=q", "sort"],
])("refuses %s", async (query, field) => {
  const { status, json } = await service.ask("GET", `/jobs/${job}/scan?${query}`);
  expect(status).toBe(400);
  expect(Object.keys(json)).toContain(field);
});

test("a waiting job has no scan yet, and a job of patterns has one", async () => {
  const waiting = await openScoringAlone({ corpus: true });
  try {
    const { json } = await waiting.ask("POST", "/jobs", {
      body: { accession: "P04637", allMotifClasses: true },
    });
    expect(json.patterns).toHaveLength(NAMES.length);
    const refused = await waiting.ask("GET", `/jobs/${json.id}/scan`);
    expect([refused.status, refused.json.code]).toEqual([409, "not_finished"]);
  } finally {
    await waiting.close();
  }
  const { json } = await service.ask("POST", "/jobs", { body: { accession: "P04637", patterns: ["P..P"] } });
  await ended(service, json.id);
  const { json: found } = await service.ask("GET", json.links.scan);
  expect(found.matches[0]).toMatchObject({ motif: "P..P", type: null });
});

test("results of earlier versions are listed with the levels of conservation as such", () => {
  const dropped = new Set(
    "overallPValue overallPValueIs overallVerdict z alignment verdict nearby".split(" "),
  );
  const earlier = JSON.parse(
    JSON.stringify(SAMPLE.prediction, (name, value) => (dropped.has(name) ? undefined : value)).replaceAll(
      "conservationLevel",
      "verdict",
    ),
  );
  const [match] = makeScan({ identifier: "", prediction: currentPrediction(earlier) }).matches;
  expect(match).toMatchObject({
    overallPValue: null,
    q: null,
    isDisordered: null,
    verdict: "not scored",
    label: "not scored",
    conservationLevel: "conserved",
    kept: 1,
    nearby: 0,
  });
});

test("matches contain imported features, and filters use them", async () => {
  expect(scan.matches[0].notes).toBeNull();
  const documents = () =>
    Promise.all(
      ["json", "xml"].map(
        async (format) => (await service.ask("GET", `/jobs/${job}/result?format=${format}`)).text,
      ),
    );
  const stored = await documents();
  const before = withoutComments((await service.ask("GET", `/jobs/${job}/result?format=tsv`)).text);
  const row = (id: string, accession: string, start: number, end: number, logic = "true positive") =>
    `"${id}"\t"DEG"\t"DEG_MDM2_SWIB_1"\t"${accession}"\t"${start}"\t"${end}"\t"${logic}"\n`;
  // The MDM2 degron of p53: 19-26 in human, 22-29 in mouse (P02340); PMID 8875929.
  const source =
    `"Accession"\t"ELMType"\t"ELMIdentifier"\t"Primary_Acc"\t"Start"\t"End"\t"InstanceLogic"\n` +
    row("ELMI1", "P04637", 17, 27) +
    row("ELMI2", "P02340", 22, 29) +
    row("ELMI3", "P04637", 90, 97) +
    row("ELMI4", "Q9TTA1", 19, 26, "false positive");
  await service.scoring.importFeatures({ source, name: "elm" });
  const gff = ["domain\t102\t292", "modified residue\t20\t20", "variant\t900\t900"].map(
    (place) => `P04637\tUniProtKB\t${place}\t.\t.\t.\tNote=Phosphoserine\n`,
  );
  await service.scoring.importFeatures({ source: gff.join(""), name: "gff" });

  const noted = await show("");
  expect(() => parse(schema(ScanSchema), noted)).not.toThrow();
  const best = noted.matches.find(({ motif }) => motif === "MDM2-SWIB")!;
  expect(best.notes).toMatchObject({
    instances: [{ id: "ELMI1", start: 17 }],
    domains: [],
    phosphosite: 0,
    sentence:
      "This is ELMI1, a known instance of DEG_MDM2_SWIB_1; also annotated in Mus musculus P02340 (ELMI2).",
  });
  // Other classes at the same place are no instances.
  expect(noted.matches.filter(({ notes }) => notes!.instances.length > 0)).toEqual([best]);
  expect((await show("known=true")).matches).toEqual([best]);
  expect((await show("known=false")).matches).toEqual(noted.matches.filter((match) => match !== best));
  const inside = await show("domain=inside");
  expect(inside.matches.length).toBeGreaterThan(3);
  for (const { start, end } of inside.matches) expect(start >= 102 - 10 && end <= 292 + 10).toBe(true);
  expect((await show("domain=outside")).matches.length).toBe(noted.matches.length - inside.matches.length);
  for (const { start, end, notes } of (await show("phosphosite=5")).matches) {
    expect(notes!.phosphosite).toBe(Math.max(0, start - 20, 20 - end));
    expect(notes!.phosphosite).toBeLessThanOrEqual(5);
  }
  expect((await service.ask("GET", `/jobs/${job}/scan?phosphosite=-1`)).status).toBe(400);

  const { json } = await service.ask("GET", `/jobs/${job}/features`);
  expect(json).toMatchObject({ protein: "P04637", flagged: { length: 1 } });
  expect(json.features).toHaveLength(4);
  expect(json.notes[best.number - 1]).toEqual(best.notes);
  const rows = withoutComments((await service.ask("GET", `/jobs/${job}/result?format=tsv`)).text).split("\n");
  expect(rows.find((line) => line.includes("FSDLWKLL"))).toContain(
    "\tELMI1\tTupaia belangeri Q9TTA1 ELMI4 (false positive), Mus musculus P02340 ELMI2\t",
  );
  const gff3 = (await service.ask("GET", `/jobs/${job}/result?format=gff3`)).text;
  expect(gff3).toContain(
    "known_instance=ELMI1;also_annotated_in=Tupaia belangeri Q9TTA1 ELMI4 (false positive)%2C Mus",
  );
  const head = rows[0].split("\t");
  const known = rows.find((line) => line.includes("FSDLWKLL"))!.split("\t");
  const verdicts = ["verdict", "overall_verdict"].map((name) => head.indexOf(name));
  expect(verdicts.map((i) => known[i])).toEqual(["known instance", "known instance"]);
  // Scores do not depend on features.
  const scores = (lines: string[]) =>
    lines.map((line) => line.split("\t").filter((_, i) => i < 17 && !verdicts.includes(i)));
  expect(scores(rows)).toEqual(scores(before.split("\n")));
  // Documents have the same verdict, and that of the score beside it.
  const [judged, xml] = await documents();
  const matches = (JSON.parse(judged) as Static<typeof ResultSchema>).patterns.flatMap((one) => one.matches);
  expect(() => parse(schema(ResultSchema), JSON.parse(judged))).not.toThrow();
  const instance = matches.find(
    ({ text, verdict }) => text === "FSDLWKLL" && (verdict as string) === "known instance",
  );
  expect(instance).toMatchObject({ overallVerdict: "known instance", scoreVerdict: "likely functional" });
  expect(matches.filter(({ scoreVerdict }) => scoreVerdict !== undefined)).toHaveLength(
    matches.filter(({ verdict }) => (verdict as string) === "known instance").length,
  );
  expect(xml).toContain("<p:overallVerdict>known instance</p:overallVerdict>");
  expect(xml).toContain("<p:scoreVerdict>likely functional</p:scoreVerdict>");
  const soap = await service.send(
    new Request("http://lab/soap/ConservationScorer", {
      method: "POST",
      headers: { "Content-Type": "text/xml" },
      body: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><GetResult xmlns="urn:test"><JobIdentifier>${job}</JobIdentifier></GetResult></s:Body></s:Envelope>`,
    }),
  );
  expect(await soap.text()).toContain(xml.trimEnd().slice(xml.indexOf("<p:ConScorePrediction")));
  for (const name of ["elm", "gff"]) service.scoring.removeFeatures(name);
  expect(await documents()).toEqual(stored);
  expect((await show("")).matches[0].notes).toBeNull();
});

test("scans of several proteins have one order, with q-values over all matches", async () => {
  const { id } = (
    await service.ask("POST", "/jobs", { body: { accession: "P02340", allMotifClasses: true } })
  ).json;
  await ended(service, id);
  const joint = (await service.ask("GET", `/scans?jobs=${job},${id},${job}`)).json as JointScanObject;
  expect(() => parse(schema(JointScanSchema), joint)).not.toThrow();
  const mouse = (await service.ask("GET", `/jobs/${id}/scan`)).json as Scan;
  expect(joint.proteins).toMatchObject([
    { job, identifier: "P04637", matches: scan.matches.length },
    { job: id, matches: mouse.matches.length },
  ]);
  const all = [scan, mouse].flatMap(({ matches }, of) => matches.map((match) => ({ ...match, of })));
  const ps = all.map(({ overallPValue }) => overallPValue!).toSorted((a, b) => a - b);
  /** Benjamini and Hochberg: the least of P × n / rank over this P and larger ones. */
  const findQ = (p: number): number =>
    Math.min(...ps.map((each) => (each >= p ? (each * ps.length) / (ps.lastIndexOf(each) + 1) : 1)), 1);
  expect(joint.tested).toBe(all.length);
  expect(joint.matches).toHaveLength(all.length);
  for (const { of, number, q, overallPValue } of joint.matches) {
    expect(all).toContainEqual(expect.objectContaining({ of, number, overallPValue }));
    expect(q).toBeCloseTo(findQ(overallPValue!), 5);
  }
  expectByEvidence(joint);
  const tsv = withoutComments(
    (await service.ask("GET", `/scans?jobs=${job},${id}&format=tsv&type=DEG`)).text,
  ).split("\n");
  expect(tsv).toHaveLength(all.filter(({ type }) => type === "DEG").length + 2);
  const gff3 = (await service.ask("GET", `/scans?jobs=${job},${id}&format=gff3`)).text;
  expect(gff3.match(/^##sequence-region/gm)).toHaveLength(2);
  expect(gff3.match(/polypeptide_motif/g)).toHaveLength(all.length);
  expect(await service.ask("GET", "/scans?jobs=none")).toMatchObject({
    status: 404,
    json: { message: expect.stringContaining("jobs: none: ") },
  });
  expect((await service.ask("GET", "/scans")).status).toBe(400);
});
