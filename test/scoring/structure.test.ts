import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import { listFileNames } from "../../src/scoring/structure/structure-models.ts";
import { mapModel } from "../../src/scoring/structure/map-model.ts";
import { MAX_MODEL, readModel } from "../../src/scoring/structure/model-file.ts";
import { helixCif, helixPdb } from "../fixtures/helix-model.ts";
import { ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";

const FORMATS = [
  ["mmcif", helixCif],
  ["pdb", helixPdb],
] as const;
/** As AlphaFold's: one value per residue. */
const pLddt = (i: number): number => 30 + (i % 60);
const mapped = (text: string, query = P53) => mapModel(query, readModel(text));

describe.each(FORMATS)("a model in %s", (format, write) => {
  test("a structure model is read with chains, numbers and confidences", () => {
    const { chains, ...file } = readModel(write("MKTF", { first: -1, chain: "B", bFactors: pLddt }));
    expect(file).toEqual({ format, isPrediction: true });
    expect(chains.map(({ id }) => id)).toEqual(["B"]);
    expect(chains[0].residues.map(({ number, letter, bFactor }) => `${letter}${number} ${bFactor}`)).toEqual([
      "M-1 30",
      "K0 31",
      "T1 32",
      "F2 33",
    ]);
  });

  test("a model of the whole query has every residue and its pLDDT", () => {
    const {
      residues,
      pLddt: values,
      mismatches,
      missing,
      identity,
      chain,
    } = mapped(write(P53, { bFactors: pLddt }));
    expect(residues).toEqual(Array.from(P53, (_, i) => String(i + 1)));
    expect(values).toEqual(Array.from(P53, (_, i) => pLddt(i)));
    expect({ mismatches, missing, identity, chain }).toEqual({
      mismatches: [],
      missing: [],
      identity: 1,
      chain: "A",
    });
  });

  test("a model of a fragment with a mutation and a gap states differences and missing residues", () => {
    // Residues 95 to 150 without 110 to 119, with another number for the first and with R175-like changes.
    const stretch = (P53.slice(94, 109) + P53.slice(119, 180)).replace(
      P53.slice(124, 130),
      `${P53.slice(124, 129)}W`,
    );
    const { residues, mismatches, missing, identity } = mapped(write(stretch, { first: 501 }));
    expect(mismatches).toEqual([`${P53[129]}130W`]);
    expect(missing).toEqual([
      { start: 1, end: 94 },
      { start: 110, end: 119 },
      { start: 181, end: 393 },
    ]);
    expect([residues[94], residues[108], residues[109], residues[119]]).toEqual(["501", "515", null, "516"]);
    expect(identity).toBeCloseTo(75 / 76, 4);
  });

  test("a model of another protein is rejected with the reason", () => {
    const other = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV";
    expect(() => mapped(write(other))).toThrow(
      /model: no chain is this protein\. The most similar, chain A, has \d+ identical of \d+/,
    );
    expect(() => mapped(write(P53.slice(20, 28)))).toThrow("8 identical of 8 aligned residues; at least 10");
  });
});

test("chooses the chain that is the query", () => {
  const partner = helixPdb("MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAP", { chain: "A" }).replace(/TER\nEND\n$/, "");
  const { chain, chains, residues } = mapped(
    partner + helixPdb(P53.slice(16, 29), { chain: "B", first: 17 }),
  );
  expect({ chain, chains, first: residues[16] }).toEqual({ chain: "B", chains: ["A", "B"], first: "17" });
});

test("aligns equal chains once, and rejects more than the budget allows", () => {
  const mutant = P53.replace("FSDLW", "FADLW");
  const file = readModel(helixPdb(mutant));
  const copies = (count: number, of = file.chains[0]) => ({
    ...file,
    chains: Array.from({ length: count }, (_, i) => ({ ...of, id: String(i) })),
  });
  expect(mapModel(P53, copies(100)).chain).toBe("0");
  const different = copies(300).chains.map(({ id, residues }, i) => ({
    id,
    residues: residues.with(i, { ...residues[i], letter: "W" }),
  }));
  expect(() => mapModel(P53, { ...file, chains: different })).toThrow("Keep only the chain of the protein");
});

test("reads modified residues, the first model only, and quoted atoms", () => {
  const model = helixPdb("MKT")
    .replaceAll("ATOM  ", "HETATM")
    .replaceAll("MET", "MSE")
    .replaceAll("THR", "TPO");
  const two = `${model.replace(/TER\nEND\n/, "")}ENDMDL\n${helixPdb("AAA")}`;
  expect(
    readModel(two)
      .chains[0].residues.map(({ letter }) => letter)
      .join(""),
  ).toBe("MKT");
  const quoted = helixCif("MK").replaceAll(" O MET", ` "O5'" MET`);
  expect(readModel(quoted).chains[0].residues.length).toBe(2);
});

test.each([
  ["an experiment by its header", `EXPDTA    X-RAY DIFFRACTION\n${helixPdb(P53)}`, false],
  ["an experiment by its atoms", helixPdb(P53).replace(/ 90\.00/, " 12.00"), false],
  ["fractions instead of percentages", helixPdb(P53, { bFactors: () => 0.9 }), false],
  ["AlphaFold's model", `EXPDTA    THEORETICAL MODEL\nTITLE     ALPHAFOLD MONOMER\n${helixPdb(P53)}`, true],
  ["a model without a header", helixPdb(P53), true],
])("tells predictions from experiments: %s", (_, text, isPrediction) => {
  expect(readModel(text).isPrediction).toBe(isPrediction);
});

test.each([
  ["", "the file is neither mmCIF nor PDB"],
  ["hello world", "the file is neither mmCIF nor PDB"],
  [helixPdb("MK").replaceAll(" CA ", " CB "), "no protein with coordinates"],
  [helixPdb("MK").replace("A   1", "A   x"), 'line 1: "x" is not the number of a residue'],
  [helixPdb("MK").replace(" 90.00", " 9a.00"), 'line 1: "9a.00" is not a B factor'],
  [helixCif("MK").replace(" 1.00 90.00", " 1.00"), "values; _atom_site has 16 columns"],
  [
    helixCif("MK").replace("_atom_site.label_comp_id", "_atom_site.x").replace("auth_comp", "y"),
    "lacks the column label_comp_id",
  ],
])("rejects a bad file %#", (text, message) => {
  expect(() => readModel(text)).toThrow(message);
});

test("looks for AlphaFold's newest version first, and for no file outside the folder", () => {
  expect(listFileNames("P04637").slice(0, 2)).toEqual([
    "AF-P04637-F1-model_v9.cif",
    "AF-P04637-F1-model_v9.cif.gz",
  ]);
  expect(listFileNames("P04637")).toContain("P04637.pdb");
  for (const bad of ["../P04637", "a/b", "", ".hidden", "x".repeat(41)])
    expect(listFileNames(bad)).toEqual([]);
});

describe("the model of a job", () => {
  let service: ScoringAlone;
  let id: string;
  beforeAll(async () => {
    service = await openScoringAlone({ workers: 1, corpus: true, maxMessageBytes: 1_000_000 });
    id = (await service.ask("POST", "/jobs", { body: { accession: "P04637", patterns: ["F...W"] } })).json.id;
    await ended(service, id);
  });
  afterAll(() => service.close());
  const ask = (method: string, path = "", body?: string | Uint8Array) =>
    service.ask(method, `/jobs/${id}/model${path}`, body === undefined ? {} : { body });
  const folder = (): string => join(service.settings.dataDirectory, "models");

  test("a structure model is added, shown, sent as a file and removed", async () => {
    expect((await ask("GET")).json).toEqual({ model: null, problem: null });
    expect((await ask("GET", "/file")).status).toBe(404);
    const added = await ask("PUT", "?name=p53.pdb.gz", Bun.gzipSync(helixPdb(P53)));
    expect(added.json.model).toMatchObject({
      name: "p53.pdb.gz",
      source: "upload",
      format: "pdb",
      isPrediction: true,
    });
    expect((await ask("GET")).json).toEqual(added.json);
    const file = await ask("GET", "/file");
    expect([file.headers.get("content-type"), file.text]).toEqual(["chemical/x-pdb", helixPdb(P53)]);
    expect((await ask("PUT", "?name=p53.cif", helixCif(P53))).json.model.format).toBe("mmcif");
    expect((await ask("DELETE")).json).toEqual({ model: null, problem: null });
  });

  test("comes from the folder under the accession, unless one was added", async () => {
    mkdirSync(folder());
    writeFileSync(join(folder(), "AF-P04637-F1-model_v4.cif.gz"), Bun.gzipSync(helixCif(P53)));
    expect((await ask("GET")).json.model).toMatchObject({
      name: "AF-P04637-F1-model_v4.cif.gz",
      source: "folder",
    });
    await ask("PUT", "?name=own.pdb", helixPdb(P53));
    expect((await ask("GET")).json.model.name).toBe("own.pdb");
    expect((await ask("DELETE")).json.model.source).toBe("folder");
    writeFileSync(join(folder(), "AF-P04637-F1-model_v6.pdb"), "nothing");
    expect((await ask("GET")).json).toEqual({
      model: null,
      problem:
        "models/AF-P04637-F1-model_v6.pdb: the file is neither mmCIF nor PDB. Expected _atom_site or ATOM records.",
    });
    rmSync(folder(), { recursive: true });
  });

  test.each<[string, string | Uint8Array, number, string]>([
    ["name=a", "no model", 400, "neither mmCIF nor PDB"],
    ["name=a", Bun.gzipSync("x").subarray(0, 12), 400, "the gzip file is truncated or damaged"],
    ["name=a", Bun.gzipSync(" ".repeat(MAX_MODEL + 1)), 413, "the file has more than 10 MB"],
    ["name=a", helixPdb("MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAP"), 400, "no chain is this protein"],
    ["", helixPdb(P53), 400, "name"],
  ])("rejects an upload with %s %#", async (query, body, status, message) => {
    const answer = await ask("PUT", `?${query}`, body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
    expect((await ask("GET")).json.model).toBeNull();
  });

  test("a structure model is deleted with its job", async () => {
    await ask("PUT", "?name=p53.pdb", helixPdb(P53));
    const { database } = service;
    const models = () => database.query("SELECT count(*) AS count FROM protein_model").get();
    expect(models()).toEqual({ count: 1 });
    database.run("UPDATE job SET expires = 1");
    expireJobs(database, 2);
    expect(models()).toEqual({ count: 0 });
    const gone = await ask("GET");
    expect([gone.status, gone.json.code]).toEqual([410, "job_expired"]);
  });
});
