import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import { RESULT_FORM_NAMES, RESULT_FORMS } from "../../src/scoring/api/result-format.ts";
import { DIRECT } from "../../src/platform/origin.ts";
import { random } from "../fixtures/random-protein.ts";
import { ended, openService, P53, type Service } from "./json-harness.ts";

// A busy machine takes its time.
setDefaultTimeout(300_000);

/** The JSON service: what its addresses answer, and that it is the service of SOAP. */

let service: Service;
/** Without workers: what is submitted stays in the queue. */
let waiting: Service;
beforeAll(async () => {
  service = await openService();
  waiting = await openService({ workers: 0, reach: { ...DIRECT, publicUrl: "https://lab.example" } }, false);
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
  test("is accepted, told of, and answered with the numbers of the library", async () => {
    const accepted = await service.ask("POST", "/jobs", { body: SUBMISSION });
    expect(accepted.status).toBe(202);
    const { id, links } = accepted.json;
    expect(accepted.headers.get("location")).toBe(`http://lab/api/scoring/jobs/${id}`);
    expect(links).toEqual({
      self: `http://lab/api/scoring/jobs/${id}`,
      events: `http://lab/api/scoring/jobs/${id}/events`,
      result: `http://lab/api/scoring/jobs/${id}/result`,
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
    const [{ prediction }] = service.scoring.scoreNow({
      fasta: `>p53\n${P53}`,
      regularExpression: SUBMISSION.patterns,
      elmIdentifierName: SUBMISSION.motifClasses,
      scoringModel: "discontinuous",
    });
    const result = await service.ask("GET", links.result);
    expect(result.json).toEqual(JSON.parse(JSON.stringify({ identifier: "p53", ...prediction })));
  });

  test("of a protein of the corpus is named by its accession; what is left out has its default", async () => {
    const { json } = await service.ask("POST", "/jobs", {
      body: { accession: "P04637", patterns: ["P..P"] },
    });
    expect(json).toMatchObject({ identifier: "P04637", queryLength: 393, scoringModel: "continuous" });
    expect((await ended(service, json.id)).state).toBe("finished");
    const own = await service.ask("POST", "/jobs", { body: { accession: "P04637", identifier: "mine" } });
    expect(own.json).toMatchObject({ identifier: "mine", patterns: [] });
  });

  test("is the one that SOAP knows", async () => {
    const { json } = await service.ask("POST", "/jobs", { body: SUBMISSION });
    await ended(service, json.id);
    const asked = await service.ask("POST", "http://lab/soap/ConservationScorer", {
      body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><GetResult xmlns="urn:test"><JobIdentifier>${json.id}</JobIdentifier></GetResult></e:Body></e:Envelope>`,
      headers: { "Content-Type": "text/xml" },
    });
    const xml = (await service.ask("GET", `/jobs/${json.id}/result?format=xml`)).text;
    const element = xml.slice(xml.indexOf("<p:ConScorePrediction")).trim();
    expect(element.length).toBeGreaterThan(1000);
    expect(asked.text).toContain(element);
  });
});

describe("a result", () => {
  let id = "";
  beforeAll(async () => {
    ({ id } = (await service.ask("POST", "/jobs", { body: SUBMISSION })).json);
    await ended(service, id);
  });

  test.each(RESULT_FORM_NAMES)("is had as %s by name and by Accept", async (name) => {
    const { contentType, extension } = RESULT_FORMS[name];
    const named = await service.ask("GET", `/jobs/${id}/result?format=${name}`);
    expect(named.status).toBe(200);
    expect(named.headers.get("content-type")).toBe(contentType);
    expect(named.headers.get("content-disposition")).toBe(`inline; filename="${id}.${extension}"`);
    const accepted = await service.ask("GET", `/jobs/${id}/result`, {
      headers: { Accept: `image/png, ${contentType.split(";")[0]};q=0.5` },
    });
    expect(accepted.text).toBe(named.text);
    expect(accepted.headers.get("vary")).toContain("Accept");
  });

  test("has one alignment per match, or the one that is asked for", async () => {
    const all = (await service.ask("GET", `/jobs/${id}/result?format=stockholm`)).text;
    expect(all.match(/^# STOCKHOLM 1.0$/gm)!.length).toBe(1);
    expect((await service.ask("GET", `/jobs/${id}/result?format=stockholm&match=1`)).text).toBe(all);
    expect((await service.ask("GET", `/jobs/${id}/result?format=fasta&match=2`)).text).toBe("");
  });

  test.each([
    ["?format=pdf", {}, 400, "format: expected one of"],
    ["?match=0", {}, 400, "match: expected the number"],
    ["?match=1&match=2", {}, 400, "match: it is there more than once"],
    ["?formt=tsv", {}, 400, "parameters: an unknown one; there are format, match"],
    ["", { Accept: "image/png" }, 406, "application/json, text/tab-separated-values"],
  ])("is refused for %p %p", async (query, headers, status, words) => {
    const answer = await service.ask("GET", `/jobs/${id}/result${query}`, { headers });
    expect(answer.status).toBe(status);
    expect(answer.json.message).toContain(words);
  });
});

describe("a job that waits", () => {
  test("has a place, addresses of the public server, and no result; it can be cancelled, also twice", async () => {
    const { json } = await waiting.ask("POST", "/jobs", { body: SUBMISSION });
    expect(json).toMatchObject({ state: "queued", started: null, ended: null });
    expect(json.place).toBeGreaterThan(0);
    expect(json.links.self).toBe(`https://lab.example/api/scoring/jobs/${json.id}`);
    const early = await waiting.ask("GET", `/jobs/${json.id}/result`);
    expect([early.status, early.json.code, early.headers.get("retry-after")]).toEqual([
      409,
      "not_finished",
      "1",
    ]);
    const cancelled = await waiting.ask("DELETE", `/jobs/${json.id}`);
    expect([cancelled.status, cancelled.json.state]).toEqual([200, "cancelled"]);
    const [again, result] = await Promise.all([
      waiting.ask("DELETE", `/jobs/${json.id}`),
      waiting.ask("GET", `/jobs/${json.id}/result`),
    ]);
    expect([again.json.state, result.status, result.json.code]).toEqual(["cancelled", 409, "job_cancelled"]);
    const { text } = await waiting.ask("GET", `/jobs/${json.id}/events`);
    expect(text).toMatch(/^retry: \d+\n\nevent: state\nid: cancelled\ndata: .*"state":"cancelled".*\n\n$/);
    const back = { "Last-Event-ID": "cancelled" };
    expect((await waiting.ask("GET", `/jobs/${json.id}/events`, { headers: back })).status).toBe(204);
  });

  test("no corpus is not found, and no accession is known", async () => {
    const corpus = await waiting.ask("GET", "/corpus");
    expect([corpus.status, corpus.json.code]).toEqual([404, "not_found"]);
    const { json } = await waiting.ask("POST", "/jobs", { body: { accession: "P04637" } });
    expect(json.accession).toEqual(["the corpus in use has no protein of this accession."]);
  });
});

test("a job that has ended cannot be cancelled", async () => {
  const { json } = await service.ask("POST", "/jobs", { body: SUBMISSION });
  await ended(service, json.id);
  const refused = await service.ask("DELETE", `/jobs/${json.id}`);
  expect([refused.status, refused.json.code]).toEqual([409, "conflict"]);
});

test("a job of long ago is known, but neither what it was asked nor its result", async () => {
  const { json } = await service.ask("POST", "/jobs", { body: { ...SUBMISSION, identifier: "long ago" } });
  const { ended: end } = await ended(service, json.id);
  service.database.query("UPDATE job SET expires = ? WHERE id = ?").run(Date.parse(end) + 1, json.id);
  expect(expireJobs(service.database, Date.parse(end) + 2)).toBe(1);
  const job = await service.ask("GET", `/jobs/${json.id}`);
  expect(job.status).toBe(200);
  expect(job.json).toMatchObject({
    state: "expired",
    identifier: null,
    queryLength: null,
    scoringModel: null,
    patterns: [],
  });
  expect(job.json.failure).toContain("was kept for");
  const result = await service.ask("GET", `/jobs/${json.id}/result`);
  expect([result.status, result.json.code]).toEqual([410, "job_expired"]);
});

test("damaged submissions are answered in words, whatever they have become", async () => {
  const next = random(7);
  const whole = JSON.stringify(SUBMISSION);
  const odd = [
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "1e999",
    "\\ud800",
    "\u0000",
    "é",
    "((",
    "{9999}",
    "__proto__",
  ];
  const statuses = new Map<number, number>();
  for (let i = 0; i < 2000; i++) {
    let body = whole;
    for (let changes = 1 + Math.floor(next() * 3); changes > 0; changes--) {
      const at = Math.floor(next() * body.length);
      const behind = at + Math.floor(next() * 4);
      body =
        body.slice(0, at) + (next() < 0.7 ? odd[Math.floor(next() * odd.length)] : "") + body.slice(behind);
    }
    const { status, json, headers } = await waiting.ask("POST", "/jobs", { body });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 202) {
      expect({ body, status, type: headers.get("content-type") }).toEqual({
        body,
        status: 400,
        type: "application/json",
      });
      expect(json.message.length).toBeGreaterThan(10);
      expect(json.code).toMatch(/^(malformed|invalid_request|invalid_pattern|unknown_motif_class)$/);
    }
  }
  // It would prove nothing if all had been refused, or none.
  for (const status of [202, 400]) expect(statuses.get(status)).toBeGreaterThan(50);
});

test("events of a job that runs end with its final state", async () => {
  const { json } = await service.ask("POST", "/jobs", {
    body: { querySequence: P53.repeat(2), patterns: ["P.{0,20}P"] },
  });
  const { status, headers, text } = await service.ask("GET", `/jobs/${json.id}/events`);
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  expect(text.trimEnd().split("\n\n").at(-1)).toMatch(
    /^event: state\nid: finished\ndata: \{.*"state":"finished".*\}$/,
  );
});

describe("submissions are refused with all that is wrong:", () => {
  const good = { querySequence: "MKLT", patterns: ["K.T"] };
  test.each<[string, unknown, string, Record<string, string>]>([
    ["no query", {}, "invalid_request", { querySequence: "either querySequence or accession" }],
    ["two queries", { ...good, accession: "P04637" }, "invalid_request", { querySequence: "one of the two" }],
    ["an unknown accession", { accession: "P0" }, "invalid_request", { accession: "no protein" }],
    ["an accession that is none", { accession: 7 }, "invalid_request", { accession: "expected a text" }],
    [
      "lower case",
      { querySequence: "MKlT" },
      "invalid_request",
      { querySequence: "character 3 is U+006C 'l'" },
    ],
    [
      "a no-break space",
      { querySequence: "MK\u00a0" },
      "invalid_request",
      { querySequence: "character 3 is U+00A0;" },
    ],
    [
      "a long query",
      { querySequence: "M".repeat(1001) },
      "invalid_request",
      { querySequence: "1001 residues; at most 1000" },
    ],
    [
      "another model",
      { ...good, scoringModel: "Continuous" },
      "invalid_request",
      { scoringModel: "continuous or discontinuous" },
    ],
    [
      "a pattern without a list",
      { ...good, patterns: "K.T" },
      "invalid_request",
      { patterns: "a list of at most 5" },
    ],
    [
      "six patterns",
      { ...good, patterns: Array(6).fill("K") },
      "invalid_request",
      { patterns: "a list of at most 5" },
    ],
    [
      "a number among patterns",
      { ...good, patterns: ["K", 1] },
      "invalid_request",
      { patterns: "a list of at most 5" },
    ],
    [
      "a pattern without sense",
      { ...good, patterns: ["K", "P((A"] },
      "invalid_pattern",
      { patterns: "pattern 2, character 3:" },
    ],
    [
      "an empty pattern",
      { ...good, patterns: [" "] },
      "invalid_pattern",
      { patterns: "pattern 1, it is empty" },
    ],
    [
      "an unknown class",
      { ...good, motifClasses: ["LIG_PCNA_PIPBox_9"] },
      "unknown_motif_class",
      { motifClasses: "motif class 1: No motif class" },
    ],
    ["a number for a name", { ...good, identifier: 5 }, "invalid_request", { identifier: "expected a text" }],
    [
      "an unknown field",
      { ...good, pattern: ["K"] },
      "invalid_request",
      { body: "an unknown field; there are identifier" },
    ],
    [
      "a field of all objects",
      { ...good, constructor: "K" },
      "invalid_request",
      { body: "an unknown field" },
    ],
    [
      "several errors",
      { querySequence: "M1", patterns: ["(", ")"], motifClasses: ["?"] },
      "invalid_request",
      { querySequence: "character 2", patterns: "pattern 1", motifClasses: "motif class 1" },
    ],
  ])("%s", async (_, body, code, fields) => {
    const { status, json } = await service.ask("POST", "/jobs", { body });
    const { message, code: given, ...errors } = json;
    expect([status, given]).toEqual([400, code]);
    expect(message).toBe(`${Object.keys(errors)[0]}: ${(Object.values(errors)[0] as string[])[0]}`);
    expect(Object.keys(errors)).toEqual(Object.keys(fields));
    for (const [field, words] of Object.entries(fields)) expect(errors[field][0]).toContain(words);
  });

  test.each<[string, string, Record<string, string>, number, string]>([
    ["no JSON", "{", {}, 400, "malformed"],
    ["nothing", " ", {}, 400, "malformed"],
    ["a list", "[]", {}, 400, "invalid_request"],
    ["null", "null", {}, 400, "invalid_request"],
    ["a form", "a=b", { "Content-Type": "application/x-www-form-urlencoded" }, 415, "unsupported_media_type"],
    ["gzip", "{}", { "Content-Encoding": "gzip" }, 415, "unsupported_media_type"],
    ["too much", JSON.stringify({ identifier: "x".repeat(100_001) }), {}, 413, "too_large"],
  ])("%s", async (_, body, headers, status, code) => {
    const answer = await service.ask("POST", "/jobs", { body, headers });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.json.detail).toBe(answer.json.message);
  });

  test("bytes that are no UTF-8 are refused", async () => {
    const { status, json } = await service.ask("POST", "/patterns", {
      body: new Uint8Array([0x22, 0xff, 0x22]),
    });
    expect([status, json.code]).toEqual([400, "malformed"]);
  });

  test("what was sent is not repeated", async () => {
    const hostile = "<script>alert(1)</script>";
    for (const body of [
      { [hostile]: 1 },
      { querySequence: hostile },
      { accession: hostile },
      { querySequence: "M", patterns: [hostile], motifClasses: [hostile], scoringModel: hostile },
      hostile,
    ]) {
      const { status, text } = await service.ask("POST", "/jobs", { body });
      expect(status).toBe(400);
      expect(text).not.toContain("alert");
    }
  });
});

describe("expressions are checked", () => {
  test("one with a meaning is put into words", async () => {
    const { status, json } = await service.ask("POST", "/patterns", { body: { pattern: "[ST]P..[KR]" } });
    expect(status).toBe(200);
    expect(json).toEqual({
      expression: "[ST]P..[KR]",
      explanation: "S or T, P, then 2 of any residue, K or R",
      informationContent: expect.closeTo(10.605, 2),
    });
  });

  test.each<[unknown, string, string, number | undefined]>([
    [{ pattern: "P((A" }, "invalid_pattern", "character 3: This ( is never closed", 3],
    [{ pattern: "" }, "invalid_pattern", "it is empty", 1],
    [{ pattern: "A{5,2}" }, "invalid_pattern", "character 2", 2],
    [{ pattern: null }, "invalid_request", "it must be there", undefined],
    [{ pattern: 1 }, "invalid_request", "expected a text", undefined],
  ])("%p is not", async (body, code, words, position) => {
    const { status, json } = await service.ask("POST", "/patterns", { body });
    expect([status, json.code, json.position]).toEqual([400, code, position]);
    expect(json.pattern.length).toBe(1);
    expect(json.pattern[0]).toContain(words);
  });
});

describe("motif classes", () => {
  test("are all listed, each as it can be asked for", async () => {
    const { json } = await service.ask("GET", "/motif-classes");
    expect(json.total).toBe(service.scoring.classes.classes.length);
    expect(json.results.length).toBe(json.total);
    for (const { name, aliases, explanation } of json.results) {
      expect(explanation).toMatch(/\S/);
      for (const known of [name, ...aliases]) expect(service.scoring.classes.find(known).name).toBe(name);
    }
  });

  test("are searched by words of name, alias, expression and description", async () => {
    const names = async (query: string): Promise<string[]> =>
      (await service.ask("GET", `/motif-classes?query=${encodeURIComponent(query)}`)).json.results.map(
        ({ name }: { name: string }) => name,
      );
    expect(await names("lig_pcna")).toEqual(["PIP-box"]);
    expect(await names("CLAMP  sliding")).toEqual(["PIP-box"]);
    expect(await names("clamp nothing")).toEqual([]);
    expect((await names("phosphorylated")).length).toBeGreaterThan(1);
  });
});

describe("addresses", () => {
  test("answer with a slash at their end, to HEAD, and say what they allow", async () => {
    expect((await service.ask("GET", "/corpus/")).json.name).toBe("sample");
    expect((await service.ask("HEAD", "/corpus")).status).toBe(200);
    const { json } = await service.ask("POST", "/jobs/", { body: SUBMISSION });
    expect((await service.ask("HEAD", `/jobs/${json.id}/events`)).headers.get("content-type")).toContain(
      "event-stream",
    );
    const options = await service.ask("OPTIONS", `/jobs/${json.id}`);
    expect([options.status, options.headers.get("allow")]).toEqual([204, "DELETE, GET, HEAD, OPTIONS"]);
    for (const [method, path, allow] of [
      ["GET", "/jobs", "OPTIONS, POST"],
      ["PUT", "/patterns", "OPTIONS, POST"],
      ["DELETE", "/corpus", "GET, HEAD, OPTIONS"],
    ]) {
      const refused = await service.ask(method, path);
      expect([refused.status, refused.json.code, refused.headers.get("allow")]).toEqual([
        405,
        "method_not_allowed",
        allow,
      ]);
    }
  });

  test("of unknown jobs are not found, however they are written", async () => {
    for (const id of ["nope", "00000000-0000-4000-8000-000000000000", "%00", "__proto__", "a%2Fb", "1'--"]) {
      for (const end of ["", "/result", "/events"]) {
        const { status, json } = await service.ask("GET", `/jobs/${id}${end}`);
        expect({ id, end, status, code: json.code }).toEqual({ id, end, status: 404, code: "unknown_job" });
      }
      expect((await service.ask("DELETE", `/jobs/${id}`)).status).toBe(404);
    }
  });
});
