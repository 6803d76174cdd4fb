import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { WITHOUT_ACCOUNTS } from "../../src/platform/operation.ts";
import { Problem } from "../../src/problem.ts";
import {
  PROTEOME_FORMATS,
  type ProteomeFormatName,
  printProteome,
  searchProteome,
} from "../../src/scoring/index.ts";
import { PROTEOME, storeFamilies } from "./proteome-stage.ts";
import { openScoringAlone, type ScoringAlone, scoreDirectly } from "./scoring-harness.ts";
import { withoutComments } from "../fixtures/without-comments.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(60_000);

let service: ScoringAlone;
let isReader = false;
const start = (body: unknown) => service.ask("POST", "/proteome/searches", { body });
beforeAll(async () => {
  service = await openScoringAlone({
    workers: 1,
    guards: {
      ...WITHOUT_ACCOUNTS,
      anyone(request) {
        if (isReader) throw new Problem("forbidden", "Only readers here.");
        return WITHOUT_ACCOUNTS.anyone(request);
      },
    },
  });
});
afterAll(() => service.close());

test("explains that the server has no corpus, and then that it has no families", async () => {
  expect((await service.ask("GET", "/proteome")).status).toBe(404);
  expect((await start({ pattern: "P..P" })).status).toBe(404);
  await service.scoring.corpora.add({ name: "some", bytes: PROTEOME });
  expect((await service.ask("GET", "/proteome")).json).toEqual({
    building: null,
    corpus: "some",
    sequences: 24,
    families: 0,
    bytes: 0,
    organisms: [],
  });
  expect(await start({ pattern: "P..P" })).toMatchObject({ status: 409, json: { code: "conflict" } });
  storeFamilies(service.scoring.corpora.active()!, [0, 1, 2, 3, 4, 5]);
  expect((await service.ask("GET", "/proteome")).json).toMatchObject({
    families: 6,
    organisms: [
      { name: "Mus musculus", taxon: 10090, proteins: 4 },
      { name: "Homo sapiens", taxon: 9606, proteins: 2 },
    ],
  });
});

test("finds the matches of the command line and of jobs, with progress, pages and downloads", async () => {
  const accepted = await start({ pattern: " P..P ", organism: null });
  expect(accepted).toMatchObject({ status: 202, json: { expression: "P..P", motifClass: null, missing: 0 } });
  const { id, links } = accepted.json;
  expect(accepted.headers.get("location")).toBe(links.self);
  const search = await waitFor(async () => {
    const { json } = await service.ask("GET", links.self);
    return json.state !== "queued" && json.state !== "running" && json;
  });
  expect(search).toMatchObject({ id, state: "finished", searched: 6, total: 6, missing: 18, failure: null });

  const table = await searchProteome({
    corpus: service.scoring.corpora.active()!,
    pattern: { expression: "P..P", name: null, dialect: "plain" },
    model: "continuous",
    selection: {},
    workers: 1,
  });
  expect(search.matches).toBe(table.rows.length);
  const { provenance } = search;
  // Columns may follow.
  expect(search.results).toMatchObject(
    table.rows
      .slice(0, 50)
      .map((row, i) =>
        Object.assign(
          { rank: i + 1, notes: null, before: expect.any(String), after: expect.any(String) },
          row,
          { isDisordered: row.disorder > 0.5, label: row.verdict, overallVerdict: row.verdict },
          { standsOut: row.q! <= 0.05 ? "q ≤ 0.05" : row.q! <= 0.2 ? "q ≤ 0.2" : null },
        ),
      ),
  );
  for (const [format, { contentType }] of Object.entries(PROTEOME_FORMATS)) {
    const download = await service.ask("GET", `${links.matches}?format=${format}`);
    expect(download.headers.get("content-type")).toBe(contentType);
    if (format === "xlsx") continue;
    const rows = table.rows.map((row) => Object.assign({}, row, { notes: null }));
    expect(download.text).toBe(
      (await printProteome(format as ProteomeFormatName, rows, provenance)) as string,
    );
  }
  const byStart = await service.ask("GET", `${links.matches}?format=tsv&order=-start&region=disordered`);
  const starts = withoutComments(byStart.text)
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => Number(line.split("\t")[5]));
  expect(starts).toEqual(
    table.rows
      .filter(({ disorder }) => disorder > 0.5)
      .map(({ start }) => start)
      .toSorted((a, b) => b - a),
  );
  const scored = scoreDirectly(service.scoring, {
    fasta: PROTEOME.split(/(?=^>)/m)
      .slice(0, 6)
      .join(""),
    patterns: ["P..P"],
    motifClasses: [],
    scoringModel: "continuous",
  });
  const expected = new Map(
    scored.flatMap(({ accession, prediction }) =>
      prediction.patterns[0].matches.map(
        ({
          atHomologs: _atHomologs,
          orthologs: _orthologs,
          paralogs: _paralogs,
          history: _history,
          ...one
        }) => [`${accession.split("|").at(1) ?? accession} ${one.start}`, one],
      ),
    ),
  );
  expect(expected.size).toBe(table.rows.length);
  for (const row of table.rows)
    expect(row).toMatchObject(expected.get(`${row.protein.accession} ${row.start}`)!);

  const page = await service.ask("GET", `${links.self}?order=-start&offset=1&limit=2&region=ordered`);
  const ordered = table.rows.filter(({ disorder }) => disorder <= 0.5).toSorted((a, b) => b.start - a.start);
  expect(page.json.passing).toBe(ordered.length);
  expect(page.json.results.map((row: { start: number }) => row.start)).toEqual(
    ordered.slice(1, 3).map((row) => row.start),
  );
  const download = (await service.ask("GET", `${links.matches}?region=ordered`)).text;
  expect(withoutComments(download).split("\n")).toHaveLength(ordered.length + 2);
  expect((await start({ pattern: "P..P" })).json).toMatchObject({ id, state: "finished" });
  expect(await service.ask("DELETE", links.self)).toMatchObject({ status: 409 });
});

test("filters by imported features, and lists them with the matches", async () => {
  const { links, results } = (await start({ pattern: "P..P" })).json;
  const inAll = results.length;
  // The residue after it exists.
  const shown: typeof results = results.filter((row: (typeof results)[0]) => row.end < row.protein.length);
  const { protein, start: first, end, rank } = shown[2];
  const { accession } = protein;
  const elm =
    `"Accession"\t"ELMIdentifier"\t"Primary_Acc"\t"Start"\t"End"\t"InstanceLogic"\n` +
    `"ELMI1"\t"LIG_ANY"\t"${accession}"\t"${first}"\t"${end}"\t"true positive"\n`;
  const bed = `${accession}\t${first - 1}\t${end}\tdomain\n${accession}\t${end}\t${end + 1}\tphosphorylation\n`;
  await service.scoring.importFeatures({ source: elm, name: "elm" });
  await service.scoring.importFeatures({ source: bed, name: "bed" });
  const list = async (query: string) => (await service.ask("GET", `${links.self}?limit=1000&${query}`)).json;
  const every = await list("");
  const own = await list(`protein=${accession}`);
  expect(own.results).toEqual(
    every.results.filter((row: (typeof every.results)[0]) => row.protein.accession === accession),
  );
  expect([own.matches, own.passing]).toEqual([every.matches, own.results.length]);
  expect((await list("protein=none")).results).toEqual([]);
  const known = await list("known=true");
  expect(known.results).toHaveLength(known.passing);
  expect(
    known.results.find(
      (row: (typeof known.results)[0]) => row.protein.accession === accession && row.start === first,
    ),
  ).toMatchObject({
    rank,
    protein: { accession },
    notes: { instances: [{ id: "ELMI1" }], domains: ["domain"], phosphosite: 1 },
  });
  const [inside, outside, near] = [
    await list("domain=inside"),
    await list("domain=outside"),
    await list("phosphosite=1"),
  ];
  expect(inside.passing).toBeGreaterThan(0);
  expect(inside.passing + outside.passing).toBe((await list("")).passing);
  expect(
    near.results.every((row: { protein: { accession: string } }) => row.protein.accession === accession),
  ).toBe(true);
  expect(inAll).toBeGreaterThan(known.passing);
  const tsv = withoutComments((await service.ask("GET", `${links.matches}?known=true`)).text).split("\n");
  expect(tsv).toHaveLength(known.passing + 2);
  expect(tsv[0]).toContain("\tknown_instance\tdomains\tphosphosite_distance\t");
  expect(tsv.some((line) => line.includes("\tELMI1\tdomain\t1\t"))).toBe(true);
  for (const name of ["elm", "bed"]) service.scoring.removeFeatures(name);
  expect((await list("known=true")).passing).toBe(0);
});

test.each([
  [{}, { pattern: ["give exactly one of pattern and motifClass."] }, 400],
  [{ pattern: "P", motifClass: "LIG_SH3_1" }, { pattern: expect.anything() }, 400],
  [
    { pattern: "PxxP" },
    { code: "invalid_pattern", pattern: [expect.stringContaining("Did you mean P..P?")] },
    400,
  ],
  [{ motifClass: "LIG_SH33" }, { motifClass: [expect.stringContaining("LIG_SH3_1")] }, 400],
  [{ pattern: "P", organism: "yeast" }, { organism: [expect.stringContaining("mnemonic")] }, 400],
  [
    { pattern: "P", scoringModel: "best" },
    { scoringModel: ["Must be one of: continuous, discontinuous, null."] },
    400,
  ],
  [
    { pattern: "P", species: "9606" },
    { species: [expect.stringContaining("Choices: pattern, motifClass")] },
    400,
  ],
])("refuses %p", async (body, expected, status) => {
  expect(await start(body)).toMatchObject({ status, json: expected });
});

test.each([
  ["?order=size", "order"],
  ["?limit=1001", "limit"],
  ["?label=sure", "label"],
  ["?kept=all", "kept"],
  ["?page=2", "page"],
])("an error names the parameter of %p", async (query, field) => {
  const answer = await service.ask("GET", `/proteome/searches/${"0".repeat(64)}${query}`);
  expect(answer).toMatchObject({ status: 400, json: { [field]: [expect.any(String)] } });
});

test("only callers with the right to cancel a search may cancel it, and unknown ids get 404", async () => {
  const { json } = await start({ motifClass: "LIG_SH3_1", organism: "Homo sapiens" });
  const path = `/proteome/searches/${json.id}`;
  isReader = true;
  expect((await service.ask("DELETE", path)).status).toBe(403);
  expect((await start({ pattern: "P" })).status).toBe(403);
  isReader = false;
  expect(await service.ask("DELETE", path)).toMatchObject({ status: 200, json: { state: "cancelled" } });
  expect((await service.ask("GET", `${path}/matches`)).json.code).toBe("job_cancelled");
  for (const id of ["0".repeat(64), "nothing", "..%2f..%2flabd"])
    expect((await service.ask("GET", `/proteome/searches/${id}`)).status).toBe(404);
});
