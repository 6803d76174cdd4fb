import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { DIRECT } from "../../src/platform/origin.ts";
import { RESULT_FORMATS } from "../../src/scoring/results/file-formats.ts";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import { random } from "../fixtures/random-protein.ts";
import { VERSION } from "../../src/version.ts";
import { ended, openScoringAlone, P53, type ScoringAlone, scoreDirectly } from "./scoring-harness.ts";

setDefaultTimeout(300_000);

let service: ScoringAlone;
/** Without workers: jobs stay in the queue. */
let waiting: ScoringAlone;
beforeAll(async () => {
  service = await openScoringAlone({ workers: 1, corpus: true });
  waiting = await openScoringAlone({ reach: { ...DIRECT, publicUrl: "https://lab.example" } });
});
afterAll(async () => {
  await service.close();
  await waiting.close();
});

const SUBMISSION = {
  identifier: "p53",
  querySequence: `${P53.slice(0, 60)}\n${P53.slice(60)}`,
  scoringModel: "discontinuous",
  patterns: ["F...W..[VIL]"],
  motifClasses: ["LIG_PCNA_PIPBox_1"],
};

describe("a job", () => {
  test("a job is accepted, shown, and scored as the library does", async () => {
    const accepted = await service.ask("POST", "/jobs", { body: SUBMISSION });
    expect(accepted.status).toBe(202);
    const { id, links } = accepted.json;
    const self = `http://lab/api/scoring/jobs/${id}`;
    expect(accepted.headers.get("location")).toBe(self);
    expect(links).toEqual({
      self,
      events: `${self}/events`,
      result: `${self}/result`,
      scan: `${self}/scan`,
    });
    const job = await ended(service, id);
    expect(job).toMatchObject({
      id,
      identifier: "p53",
      state: "finished",
      stage: null,
      fraction: null,
      place: null,
      failure: null,
      queryLength: 393,
      scoringModel: "discontinuous",
      patterns: [
        { expression: "F...W..[VIL]", name: null },
        { expression: "Q..[ILM]..[FY][FY]", name: "LIG_PCNA_PIPBox_1" },
      ],
    });
    expect(Date.parse(job.submitted)).toBeLessThanOrEqual(Date.parse(job.ended));
    const [{ prediction, provenance }] = scoreDirectly(service.scoring, {
      fasta: `>p53\n${P53}`,
      patterns: SUBMISSION.patterns,
      motifClasses: SUBMISSION.motifClasses,
      scoringModel: "discontinuous",
    });
    const result = await service.ask("GET", links.result);
    const names = { identifier: "p53", protein: null, provenance };
    expect(provenance).toMatchObject({ labd: VERSION, queries: [{ name: "p53", sequence: P53 }] });
    expect(result.json).toEqual(JSON.parse(JSON.stringify({ ...names, ...prediction })));
  });

  test("a job for a protein of the corpus is named by its accession and uses defaults", async () => {
    const body = { accession: "P04637", patterns: ["P..P"] };
    const { json } = await service.ask("POST", "/jobs", { body });
    expect(json).toMatchObject({ identifier: "P04637", queryLength: 393, scoringModel: "continuous" });
    expect((await ended(service, json.id)).state).toBe("finished");
    const own = await service.ask("POST", "/jobs", { body: { accession: "P04637", identifier: "mine" } });
    expect(own.json).toMatchObject({ identifier: "mine", patterns: [] });
  });

  test("a job has the same result over SOAP", async () => {
    const { json } = await service.ask("POST", "/jobs", { body: SUBMISSION });
    await ended(service, json.id);
    const soap = await service.ask("POST", "http://lab/soap/ConservationScorer", {
      body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><GetResult xmlns="urn:test"><JobIdentifier>${json.id}</JobIdentifier></GetResult></e:Body></e:Envelope>`,
      headers: { "Content-Type": "text/xml" },
    });
    const xml = (await service.ask("GET", `/jobs/${json.id}/result?format=xml`)).text;
    const element = xml.slice(xml.indexOf("<p:ConScorePrediction")).trim();
    expect(element.length).toBeGreaterThan(1000);
    expect(soap.text).toContain(element);
  });

  test("a job cannot be cancelled once it has ended", async () => {
    const { json } = await service.ask("POST", "/jobs", { body: SUBMISSION });
    await ended(service, json.id);
    const refused = await service.ask("DELETE", `/jobs/${json.id}`);
    expect([refused.status, refused.json.code]).toEqual([409, "conflict"]);
  });

  test("an expired job keeps neither request nor result", async () => {
    const { json } = await service.ask("POST", "/jobs", { body: { ...SUBMISSION, identifier: "old" } });
    const end = Date.parse((await ended(service, json.id)).ended);
    service.database.query("UPDATE job SET expires = ? WHERE id = ?").run(end + 1, json.id);
    expect(expireJobs(service.database, end + 2)).toBe(1);
    const job = await service.ask("GET", `/jobs/${json.id}`);
    const forgotten = { identifier: null, queryLength: null, scoringModel: null, patterns: [] };
    expect(job.json).toMatchObject({ state: "expired", ...forgotten });
    expect(job.json.failure).toContain("was kept for");
    const result = await service.ask("GET", `/jobs/${json.id}/result`);
    expect([result.status, result.json.code]).toEqual([410, "job_expired"]);
  });

  test("a job sends events up to its final state", async () => {
    const body = { querySequence: P53.repeat(2), patterns: ["P.{0,20}P"] };
    const { json } = await service.ask("POST", "/jobs", { body });
    const { status, headers, text } = await service.ask("GET", `/jobs/${json.id}/events`);
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const last = text.trimEnd().split("\n\n").at(-1);
    expect(last).toMatch(/^event: state\nid: finished\ndata: \{.*"state":"finished".*\}$/);
  });
});

describe("a result", () => {
  let id = "";
  beforeAll(async () => {
    ({ id } = (await service.ask("POST", "/jobs", { body: SUBMISSION })).json);
    await ended(service, id);
  });

  const names = Object.keys(RESULT_FORMATS).filter((name) => name !== "eln");
  test.each(names)("a result is available as %s by parameter and by Accept", async (name) => {
    const { contentType, extension } = RESULT_FORMATS[name as "tsv"];
    const named = await service.ask("GET", `/jobs/${id}/result?format=${name}`);
    expect(named.headers.get("content-type")).toBe(contentType);
    expect(named.headers.get("content-disposition")).toBe(`inline; filename="${id}.${extension}"`);
    const headers = { Accept: `image/png, ${contentType.split(";")[0]};q=0.5` };
    const accepted = await service.ask("GET", `/jobs/${id}/result`, { headers });
    expect(accepted.text).toBe(named.text);
    expect([named.status, accepted.headers.get("vary")]).toEqual([200, expect.stringContaining("Accept")]);
  });

  test("a result has the whole alignment, or the columns of the selected match", async () => {
    const all = (await service.ask("GET", `/jobs/${id}/result?format=stockholm`)).text;
    expect(all.match(/^# STOCKHOLM 1.0$/gm)!.length).toBe(1);
    const { text } = await service.ask("GET", `/jobs/${id}/result?format=stockholm&match=1`);
    const columns = (alignment: string): string => alignment.match(/^#=GC RF +(\S+)$/m)![1];
    expect(columns(all).length).toBeGreaterThan(columns(text).length);
    expect((await service.ask("GET", `/jobs/${id}/result?format=fasta&match=2`)).text).toBe("");
  });

  test.each([
    ["?format=pdf", {}, 400, "format: Must be one of: json, tsv"],
    ["?format=", {}, 400, "format: Must be one of: json, tsv"],
    ["?match=0", {}, 400, "match: Must be at least 1."],
    ["?match=1&match=2", {}, 400, "match: Must be a whole number."],
    ["?formt=tsv", {}, 400, "Did you mean format? Choices: format, match,"],
    ["", { Accept: "image/png" }, 406, "application/json, text/tab-separated-values"],
  ])("a result with %p and %p is rejected", async (query, headers, status, words) => {
    const answer = await service.ask("GET", `/jobs/${id}/result${query}`, { headers });
    expect(answer.status).toBe(status);
    expect(answer.json.message).toContain(words);
  });
});

test("a queued job has a place, public addresses and no result; cancelling it again changes nothing", async () => {
  const { json } = await waiting.ask("POST", "/jobs", { body: SUBMISSION });
  expect(json).toMatchObject({ state: "queued", started: null, ended: null });
  expect(json.place).toBeGreaterThan(0);
  const { id } = json;
  expect(json.links.self).toBe(`https://lab.example/api/scoring/jobs/${id}`);
  const early = await waiting.ask("GET", `/jobs/${id}/result`);
  const retryAfter = early.headers.get("retry-after");
  expect([early.status, early.json.code, retryAfter]).toEqual([409, "not_finished", "1"]);
  for (let i = 0; i < 2; i++) {
    const cancelled = await waiting.ask("DELETE", `/jobs/${id}`);
    expect([cancelled.status, cancelled.json.state]).toEqual([200, "cancelled"]);
  }
  const result = await waiting.ask("GET", `/jobs/${id}/result`);
  expect([result.status, result.json.code]).toEqual([409, "job_cancelled"]);
  const { text } = await waiting.ask("GET", `/jobs/${id}/events`);
  expect(text).toMatch(/^retry: \d+\n\nevent: state\nid: cancelled\ndata: .*"state":"cancelled".*\n\n$/);
  const headers = { "Last-Event-ID": "cancelled" };
  expect((await waiting.ask("GET", `/jobs/${id}/events`, { headers })).status).toBe(204);
});

test("GET /corpus returns 404 without a corpus, and accessions are unknown", async () => {
  const corpus = await waiting.ask("GET", "/corpus");
  expect([corpus.status, corpus.json.code]).toEqual([404, "not_found"]);
  const { json } = await waiting.ask("POST", "/jobs", { body: { accession: "P04637" } });
  expect(json.accession).toEqual([
    "the corpus in use has no protein with this accession, entry name or gene.",
  ]);
});

test("accepts damaged submissions or rejects them with a message", async () => {
  const next = random(7);
  const whole = JSON.stringify(SUBMISSION);
  const odd = `" \\ { } [ ] : , null 1e999 \\ud800 \u0000 é (( {9999} __proto__`.split(" ");
  const statuses = new Map<number, number>();
  for (let i = 0; i < 2000; i++) {
    let body = whole;
    for (let changes = 1 + Math.floor(next() * 3); changes > 0; changes--) {
      const at = Math.floor(next() * body.length);
      const end = at + Math.floor(next() * 4);
      const inserted = next() < 0.7 ? odd[Math.floor(next() * odd.length)] : "";
      body = body.slice(0, at) + inserted + body.slice(end);
    }
    const { status, json } = await waiting.ask("POST", "/jobs", { body });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 202) continue;
    expect({ body, status }).toEqual({ body, status: 400 });
    expect(json.message.length).toBeGreaterThan(10);
    expect(json.code).toMatch(/^(malformed|invalid_request|invalid_pattern|unknown_motif_class)$/);
  }
  for (const status of [202, 400]) expect(statuses.get(status)).toBeGreaterThan(50);
});

test("lists at most twenty errors of a field", async () => {
  const wrong = (text: string): string[] => Array<string>(900).fill(text);
  const { status, json } = await waiting.ask("POST", "/jobs", {
    body: { querySequence: "MKLT", patterns: wrong("P(("), motifClasses: wrong("X") },
  });
  expect([status, json.patterns.length, json.motifClasses.length]).toEqual([400, 20, 20]);
  const large = Array<string>(5).fill("A{9999}");
  const accepted = await waiting.ask("POST", "/jobs", { body: { querySequence: "MKLT", patterns: large } });
  expect(accepted.status).toBe(202);
});

describe("rejects submissions with errors by field", () => {
  const good = { querySequence: "MKLT", patterns: ["K.T"] };
  const many = Array<string>(1001).fill("K");
  test.each<[string, unknown, Record<string, string>, string?]>([
    ["no query", {}, { querySequence: "exactly one of querySequence, accession and alignment" }],
    ["two null queries", { querySequence: null, accession: null }, { querySequence: "exactly one of" }],
    ["two queries", { ...good, accession: "P04637" }, { querySequence: "exactly one of" }],
    ["an unknown accession", { accession: "P0" }, { accession: "no protein" }],
    ["a number as accession", { accession: 7 }, { accession: "Must be a string or null." }],
    ["a digit", { querySequence: "MK1T" }, { querySequence: "character 3: the digit 1" }],
    [
      "words",
      { querySequence: "hello world protein 123" },
      { querySequence: "character 21: the number 123" },
    ],
    ["a sentence", { querySequence: "This is a protein" }, { querySequence: "character 1: these look" }],
    ["two records", { querySequence: ">a\nMK\n>b\nMK" }, { querySequence: "2 FASTA records" }],
    ["a digit in a record", { querySequence: ">a b\nMK1T" }, { querySequence: "character 8: the digit 1" }],
    ["a long query", { querySequence: "M".repeat(1001) }, { querySequence: "1001 residues; at most 1000" }],
    [
      "an unknown model",
      { ...good, scoringModel: "both" },
      { scoringModel: "Must be one of: continuous, discontinuous, null." },
    ],
    ["a pattern without a list", { ...good, patterns: "K.T" }, { patterns: "Must be a list or null." }],
    [
      "patterns that are too large together",
      { ...good, patterns: Array<string>(6).fill("A{9999}") },
      { patterns: "the first 6 patterns are too large together" },
    ],
    ["1001 patterns", { ...good, patterns: many }, { patterns: "Must have at most 1000 items." }],
    ["1001 classes", { ...good, motifClasses: many }, { motifClasses: "Must have at most 1000 items." }],
    [
      "classes beside all classes",
      { ...good, motifClasses: ["LIG_SH3_1"], allMotifClasses: true },
      { allMotifClasses: "either motifClasses or allMotifClasses" },
    ],
    ["a number among patterns", { ...good, patterns: ["K", 1] }, { patterns: "Must be a string." }],
    [
      "an invalid pattern",
      { ...good, patterns: ["K", "P(("] },
      { patterns: "patterns[1]: character 3" },
      "invalid_pattern",
    ],
    [
      "an empty pattern",
      { ...good, patterns: [" "] },
      { patterns: "patterns[0]: the pattern is empty" },
      "invalid_pattern",
    ],
    [
      "an unknown class",
      { ...good, motifClasses: ["X"] },
      { motifClasses: "motifClasses[0]: No" },
      "unknown_motif_class",
    ],
    ["a number as identifier", { ...good, identifier: 5 }, { identifier: "Must be a string or null." }],
    ["an unknown field", { ...good, pattern: ["K"] }, { pattern: "Unknown field. Choices: identifier" }],
    ["a field of all objects", { ...good, constructor: "K" }, { constructor: "Unknown field." }],
    [
      "several errors",
      { querySequence: "M1", patterns: ["(", ")"], motifClasses: ["?"] },
      { querySequence: "character 2", patterns: "patterns[0]", motifClasses: "motifClasses[0]" },
    ],
  ])("%s", async (_, body, fields, code = "invalid_request") => {
    const { status, json } = await service.ask("POST", "/jobs", { body });
    const { message, code: given, problems = [], ...errors } = json;
    expect([status, given]).toEqual([400, code]);
    const [[field, [text]]] = Object.entries(errors as Record<string, string[]>);
    const isInList = problems[0]?.path.length > 1;
    expect(message).toBe(isInList ? text : `${field}: ${text}`);
    for (const { path, message } of problems as { path: string[]; message: string }[])
      expect(errors[path[0]].some((text: string) => text.endsWith(message))).toBe(true);
    expect(Object.keys(errors)).toEqual(Object.keys(fields));
    for (const [field, words] of Object.entries(fields)) expect(errors[field][0]).toContain(words);
  });
});

test.each<[string, string | Uint8Array, Record<string, string>, number, string]>([
  ["no JSON", "{", {}, 400, "malformed"],
  ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), {}, 400, "malformed"],
  ["nothing", " ", {}, 400, "invalid_request"],
  ["a list", "[]", {}, 400, "invalid_request"],
  ["null", "null", {}, 400, "invalid_request"],
  ["a form", "a=b", { "Content-Type": "application/x-www-form-urlencoded" }, 415, "unsupported_media_type"],
  ["gzip", "{}", { "Content-Encoding": "gzip" }, 415, "unsupported_media_type"],
  ["too much", JSON.stringify({ identifier: "x".repeat(100_001) }), {}, 413, "too_large"],
])("rejects a body of %s", async (_, body, headers, status, code) => {
  const answer = await service.ask("POST", "/jobs", { body, headers });
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

test("errors do not repeat values of the request", async () => {
  const hostile = "<script>alert(1)</script>";
  for (const body of [
    { querySequence: hostile },
    { accession: hostile },
    { querySequence: "M", patterns: [hostile], motifClasses: [hostile] },
    { querySequence: "M", scoringModel: hostile },
    hostile,
  ]) {
    const { status, text } = await service.ask("POST", "/jobs", { body });
    expect(status).toBe(400);
    expect(text).not.toContain("alert");
  }
});

describe("an expression", () => {
  test("an expression is explained if it is valid", async () => {
    const { status, json } = await service.ask("POST", "/patterns", { body: { pattern: "[ST]P..[KR]" } });
    expect(status).toBe(200);
    expect(json).toEqual({
      expression: "[ST]P..[KR]",
      explanation: "S or T, P, then 2 of any residue, K or R",
      informationContent: expect.closeTo(10.605, 2),
      suggestions: [],
    });
  });

  test("accepts a FASTA record in lower case as sequence, and names the query by its header", async () => {
    const querySequence = `>sp|P04637|P53_HUMAN Cellular tumor antigen\r\n${P53.slice(0, 60).toLowerCase()}\r\n${P53.slice(60)}*\r\n`;
    const body = { querySequence, patterns: ["F...W..[VIL]"] };
    const { status, json } = await service.ask("POST", "/jobs", { body });
    expect([status, json.identifier, json.queryLength]).toEqual([202, "P04637", 393]);
    const own = await service.ask("POST", "/jobs", { body: { ...body, identifier: "mine" } });
    expect(own.json.identifier).toBe("mine");
  });

  test("an expression in another notation is rejected with a suggestion", async () => {
    const { status, json } = await service.ask("POST", "/patterns", { body: { pattern: "[RK]-x(2)-P" } });
    expect([status, json.position, json.suggestions]).toEqual([400, 5, ["[RK].{2}P"]]);
    expect(json.pattern[0]).toEndWith("Did you mean [RK].{2}P?");
    const repeated = await service.ask("POST", "/patterns", { body: { pattern: "P*P" } });
    expect([repeated.status, repeated.json.suggestions]).toEqual([200, ["P.P", "P.*P"]]);
    const body = { querySequence: P53, patterns: ["PXXP"] };
    const job = await service.ask("POST", "/jobs", { body });
    expect(job.json.patterns[0]).toEndWith("Did you mean P..P?");
  });

  test.each<[object, string, string, number | undefined]>([
    [{ pattern: "P((A" }, "invalid_pattern", "character 3: Unclosed (", 3],
    [{ pattern: "" }, "invalid_pattern", "the pattern is empty", 1],
    [{ pattern: "A{5,2}" }, "invalid_pattern", "character 2", 2],
    [{}, "invalid_request", "This field is required.", undefined],
    [{ pattern: 1 }, "invalid_request", "Must be a string.", undefined],
  ])("rejects the expression in %p", async (body, code, words, position) => {
    const { status, json } = await service.ask("POST", "/patterns", { body });
    expect([status, json.code, json.position]).toEqual([400, code, position]);
    expect(json.pattern.length).toBe(1);
    expect(json.pattern[0]).toContain(words);
  });
});

describe("motif classes", () => {
  test("motif classes are listed with all names by which they can be requested", async () => {
    const { json } = await service.ask("GET", "/motif-classes");
    expect(json.total).toBe(service.scoring.classes.classes.length);
    expect(json.results.length).toBe(json.total);
    for (const { name, aliases, explanation } of json.results) {
      expect(explanation).toMatch(/\S/);
      for (const known of [name, ...aliases]) expect(service.scoring.classes.find(known).name).toBe(name);
    }
  });

  test.each([
    ["lig_pcna", ["PIP-box"]],
    ["CLAMP  sliding", ["PIP-box"]],
    ["clamp nothing", []],
  ])("motif classes can be searched for %p", async (query, names) => {
    const { json } = await service.ask("GET", `/motif-classes?query=${encodeURIComponent(query)}`);
    expect(json.results.map(({ name }: { name: string }) => name)).toEqual(names);
  });
});

describe("routes", () => {
  test("routes accept a trailing slash, HEAD and OPTIONS, and list their methods", async () => {
    expect((await service.ask("GET", "/corpus/")).json.name).toBe("sample");
    expect((await service.ask("HEAD", "/corpus")).status).toBe(200);
    const { json } = await service.ask("POST", "/jobs/", { body: SUBMISSION });
    const head = await service.ask("HEAD", `/jobs/${json.id}/events`);
    expect(head.headers.get("content-type")).toContain("event-stream");
    const options = await service.ask("OPTIONS", `/jobs/${json.id}`);
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, DELETE, HEAD, OPTIONS"]);
    const refused = await service.ask("GET", "/jobs");
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });

  test.each(["nope", "00000000-0000-4000-8000-000000000000", "%00", "__proto__", "a%2Fb", "1'--"])(
    "returns 404 for routes of the unknown job %s",
    async (id) => {
      for (const end of ["", "/result", "/events"]) {
        const { status, json } = await service.ask("GET", `/jobs/${id}${end}`);
        expect({ end, status, code: json.code }).toEqual({ end, status: 404, code: "unknown_job" });
      }
      expect((await service.ask("DELETE", `/jobs/${id}`)).status).toBe(404);
    },
  );
});
