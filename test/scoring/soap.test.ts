import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { METHOD } from "../../src/motif/index.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import type { Scoring } from "../../src/scoring/index.ts";
import type { Database } from "../../src/platform/sqlite.ts";
import { cpuTimeOf } from "../motif/cpu-time.ts";
import { openScoringAlone, type ScoringAlone } from "./scoring-harness.ts";

const NAMESPACE = "urn:test:scorer";
const SOAP_11 = "http://schemas.xmlsoap.org/soap/envelope/";
const URL_ = "http://lab/soap/ConservationScorer";
const P53 = proteins.split(">P04637")[1].split("\n>")[0].split("\n").slice(1).join("\n");
const MAX_BYTES = 100_000;

let alone: ScoringAlone;
let database: Database;
let scoring: Scoring;
let send: (request: Request) => Promise<Response>;
const logged: unknown[] = [];

beforeAll(async () => {
  alone = await openScoringAlone({
    log: { info: () => {}, problem: (...words) => void logged.push(words) },
    workers: 2,
    maxMessageBytes: MAX_BYTES,
    namespace: NAMESPACE,
  });
  ({ scoring, database } = alone);
  await scoring.corpora.add({ name: "sample", bytes: proteins });
  ({ send } = alone);
});
afterAll(() => alone.close());

const envelope = (body: string, soap = SOAP_11): string =>
  `<?xml version="1.0"?><s:Envelope xmlns:s="${soap}"><s:Body>${body}</s:Body></s:Envelope>`;

interface Job {
  identifier?: string;
  sequence?: string;
  model?: string;
  expressions?: string[];
  names?: string[];
}
function runJob({ identifier = "p53", sequence = P53, model = "continuous", ...rest }: Job = {}): string {
  const { expressions = ["F...W..[VIL]"], names = [] } = rest;
  return `<RunJob xmlns="${NAMESPACE}"><identifier>${identifier}</identifier><querySequence>${sequence}</querySequence>
<scoringModel>${model}</scoringModel>${expressions.map((one) => `<regularExpression>${one}</regularExpression>`).join("")}${names
    .map((one) => `<elmIdentifierName>${one}</elmIdentifierName>`)
    .join("")}</RunJob>`;
}
const ask = (operation: "GetStatus" | "GetResult", id: string): string =>
  `<${operation} xmlns="${NAMESPACE}"><JobIdentifier>${id}</JobIdentifier></${operation}>`;

const post = (body: BodyInit, headers: Record<string, string> = {}): Promise<Response> =>
  send(
    new Request(URL_, {
      method: "POST",
      body,
      headers: { "Content-Type": "text/xml; charset=utf-8", SOAPAction: '""', ...headers },
    }),
  );

const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
  send(new Request(`http://lab.example:8480${path}`, { method, headers }));

/** The text of the only element of this name. */
function element(xml: string, name: string): string {
  const found = [...xml.matchAll(new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([^<]*)</`, "g"))];
  if (found.length !== 1) throw new Error(`${found.length} elements ${name} in ${xml}`);
  return found[0][1];
}

async function submit(job?: Job): Promise<string> {
  const response = await post(envelope(runJob(job)));
  const xml = await response.text();
  expect(response.status, xml).toBe(200);
  return element(xml, "JobIdentifier");
}

/** Polls as a client does. */
async function ended(id: string): Promise<{ status: string; details: string; seen: Set<string> }> {
  const seen = new Set<string>();
  for (;;) {
    const response = await post(envelope(ask("GetStatus", id)));
    const xml = await response.text();
    expect(response.status, xml).toBe(200);
    const status = element(xml, "Status");
    seen.add(status);
    if (status === "finished" || status === "failed")
      return { status, details: element(xml, "StatusDetails"), seen };
    await Bun.sleep(5);
  }
}

async function result(id: string): Promise<string> {
  const response = await post(envelope(ask("GetResult", id)));
  expect(response.status).toBe(200);
  return response.text();
}

describe("RunJob → GetStatus → GetResult", () => {
  test("finds the MDM2-binding motif of p53 at 19–26, conserved", async () => {
    const id = await submit();
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const { status, details } = await ended(id);
    expect(status).toBe("finished");
    expect(details).toMatch(/^Took \d+\.\d\d s/);
    const xml = await result(id);
    expect(xml).toContain("ConScorePrediction");
    expect(xml).toContain("FSDLWKLL");
    expect(xml).toMatch(/>19<.*>26</s);
    expect(xml).toMatch(/>conserved</);
    expect(xml).toContain(">p53<");
    expect(xml).toContain(`>${METHOD}<`);
  });

  test("accepts a motif class by its ELM name, and shows that name", async () => {
    const id = await submit({ expressions: [], names: ["DEG_MDM2_SWIB_1"] });
    await ended(id);
    const xml = await result(id);
    expect(xml).toContain(">DEG_MDM2_SWIB_1<");
    expect(xml).toContain("FSDLWKLL");
  });

  test.each([
    ["no pattern", { expressions: [] }],
    ["empty elements", { expressions: ["", ""], names: [""] }],
    ["a pattern that matches nowhere", { expressions: ["WWWWWW"] }],
    ["an empty sequence", { sequence: "" }],
    ["one residue", { sequence: "M" }],
    ["letters that are no residues", { sequence: "XXXXXXXXXXXXXXXXXXXX" }],
    [
      "white space in both",
      { sequence: P53.replaceAll("\n", " \t\r\n "), expressions: [" F . . .\tW..[V I L]"] },
    ],
  ] as [string, Job][])("finishes with a prediction for %s", async (_, job) => {
    const id = await submit(job);
    expect((await ended(id)).status).toBe("finished");
    expect(await result(id)).toContain("ConScorePrediction>");
  });

  test("ignores white space", async () => {
    const id = await submit({ sequence: P53.replaceAll("\n", "") });
    const spaced = await submit({ sequence: ` ${P53.replaceAll("\n", "\r\n\t")}\n` });
    await ended(id);
    await ended(spaced);
    expect(await result(spaced)).toBe(await result(id));
  });

  test("returns the client's identifier escaped", async () => {
    const ids = await Promise.all(
      ["a &lt;b&gt; &amp; ü", "", "x".repeat(300)].map((identifier) => submit({ identifier })),
    );
    for (const id of ids) await ended(id);
    expect(new Set(ids).size).toBe(3);
    expect(await result(ids[0])).toContain(">a &lt;b&gt; &amp; ü<");
    expect(await result(ids[2])).toContain("x".repeat(300));
  });

  test("scores differently by the two models", async () => {
    const [graded, allOrNone] = await Promise.all([submit(), submit({ model: "discontinuous" })]);
    await ended(graded);
    await ended(allOrNone);
    const scores = [await result(graded), await result(allOrNone)];
    expect(scores[0]).not.toBe(scores[1]);
    expect(scores[1]).toContain(">discontinuous<");
  });

  test("finishes many simultaneous jobs, each with its own result", async () => {
    const models = ["continuous", "discontinuous"];
    const jobs = await Promise.all(
      Array.from({ length: 12 }, (_, i) => submit({ identifier: `job ${i}`, model: models[i % 2] })),
    );
    for (const [i, id] of jobs.entries()) {
      expect((await ended(id)).status).toBe("finished");
      expect(await result(id)).toContain(`>job ${i}<`);
    }
  });
});

describe("patterns that explode in backtracking engines", () => {
  const A = "A".repeat(999);
  test.each([
    ["(A+)+W", A],
    ["(A|A)*W", A],
    ["(A*)*(A*)*W", A],
    [".*.*.*W", A],
    [".{0,200}.{0,200}W", A],
  ])("%s is scored without delaying others", async (expression, sequence) => {
    const took = await cpuTimeOf(async () => {
      const id = await submit({ sequence, expressions: [expression] });
      const other = await submit({ sequence: "MKL", expressions: [`K{1,${expression.length}}`] });
      expect((await ended(other)).status).toBe("finished");
      expect((await ended(id)).status).toBe("finished");
    });
    expect(took).toBeLessThan(20_000);
  });

  test.each([
    ["nested groups", "(".repeat(20_000) + "A" + ")".repeat(20_000)],
    ["alternatives", "A|".repeat(40_000)],
    ["a long literal", "A".repeat(90_000)],
    ["repeats of repeats", "((A{1,90}){1,90}){1,90}"],
    ["a count without end", "A{99999999999999}"],
  ])("%s is refused immediately", async (_, expression) => {
    const took = await cpuTimeOf(async () => {
      const response = await post(envelope(runJob({ sequence: "A", expressions: [expression] })));
      expect(response.status).toBe(500);
      expect(element(await response.text(), "faultstring")).toContain("regularExpression 1, character");
    });
    expect(took).toBeLessThan(5000);
  });
});

describe("GetResult", () => {
  test("of an unfinished job has no ConScorePrediction", async () => {
    const row = database.query(
      "INSERT INTO job (client, id, state, request, digest, submitted, deadline, started) VALUES ('', ?, 'running', '{}', '', 0, 1, 0)",
    );
    row.run("waits");
    const response = await post(envelope(ask("GetResult", "waits")));
    expect(response.status).toBe(200);
    const xml = await response.text();
    expect(xml).toContain("GetResultResponse");
    expect(xml).not.toContain("ConScorePrediction");
    const status = await (await post(envelope(ask("GetStatus", "waits")))).text();
    expect(element(status, "Status")).toBe("running");
  });

  test("of a failed job is a Server fault with the reason, like GetStatus", async () => {
    database.run(
      "INSERT INTO job (client, id, state, request, digest, submitted, ended, failure) VALUES ('', 'broken', 'failed', '{}', '', 0, 1, 'It took too long.')",
    );
    const response = await post(envelope(ask("GetResult", "broken")));
    expect(response.status).toBe(500);
    const xml = await response.text();
    expect(element(xml, "faultcode")).toMatch(/:Server$/);
    expect(element(xml, "faultstring")).toContain("It took too long.");
    const status = await (await post(envelope(ask("GetStatus", "broken")))).text();
    expect(element(status, "Status")).toBe("failed");
    expect(element(status, "StatusDetails")).toBe("It took too long.");
  });
});

describe("refuses", () => {
  test("a query that is too long, without storing a job", async () => {
    const before = scoring.counts();
    const xml = await (await post(envelope(runJob({ sequence: "A".repeat(1001) })))).text();
    expect(element(xml, "faultstring")).toContain("querySequence: 1001 residues; at most 1000");
    expect(scoring.counts()).toEqual(before);
  });

  test("a message past the limit with 413, whether its length is declared or not", async () => {
    const long = envelope(`<!-- ${"x".repeat(MAX_BYTES)} -->${runJob()}`);
    const declared = await post(long, { "Content-Length": String(long.length) });
    expect(declared.status).toBe(413);
    expect(await declared.text()).toContain("Fault>");
    const streamed = await post(
      new ReadableStream({
        pull(controller) {
          controller.enqueue(new TextEncoder().encode(" ".repeat(10_000)));
        },
      }),
    );
    expect(streamed.status).toBe(413);
  });

  test.each(["PUT", "DELETE", "PATCH"])("%s with 405 and Allow", async (method) => {
    const response = await send(new Request(URL_, { method }));
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
    expect(await response.text()).toContain("Fault>");
  });

  test("without logging a problem", () => {
    expect(logged).toEqual([]);
  });
});

describe("documents", () => {
  test.each(["?wsdl", "?WSDL", "?Wsdl", "?wsdl=", "?x=1&wsdl", "?singleWsdl"])(
    "%s returns the WSDL",
    async (query) => {
      const response = await get(`/soap/ConservationScorer${query}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/xml; charset=utf-8");
      const xml = await response.text();
      expect(xml).toContain(`targetNamespace="${NAMESPACE}"`);
      expect(xml).toContain('location="http://lab.example:8480/soap/ConservationScorer"');
    },
  );

  test("include the schemas", async () => {
    for (const [path, word] of [
      ["/soap/ConservationScorer/messages.xsd", `targetNamespace="${NAMESPACE}"`],
      ["/soap/ConservationScorer/prediction.xsd", 'name="ConScorePrediction"'],
    ]) {
      const response = await get(path);
      expect(response.headers.get("content-type")).toBe("text/xml; charset=utf-8");
      expect(await response.text()).toContain(word);
      expect((await send(new Request(`http://lab${path}`, { method: "POST" }))).status).toBe(405);
    }
  });

  test("include a page for people, with links", async () => {
    const response = await get("/soap/ConservationScorer");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await response.text();
    expect(html).toContain('href="http://lab.example:8480/soap/ConservationScorer?wsdl"');
    expect(html).toContain("DEG_MDM2_SWIB_1");
    expect(html).not.toContain("<script");
  });

  test("show a message that works", async () => {
    const html = await (await get("/soap/ConservationScorer")).text();
    const shown = /&lt;&lt;&#39;END&#39;\n(.*?)\nEND/s.exec(html)![1];
    const message = shown
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&");
    const response = await post(message);
    const xml = await response.text();
    expect(response.status, xml).toBe(200);
    const id = element(xml, "JobIdentifier");
    expect((await ended(id)).status).toBe("finished");
    expect(await result(id)).toContain("FSDLWKLL");
  });

  test("have the same headers for HEAD, and no body", async () => {
    // It is the server that leaves the body out.
    const server = Bun.serve({ port: 0, fetch: send });
    try {
      for (const path of ["", "?wsdl", "/messages.xsd", "/prediction.xsd"]) {
        const url = `http://127.0.0.1:${server.port}/soap/ConservationScorer${path}`;
        const [head, full] = [await fetch(url, { method: "HEAD" }), await fetch(url)];
        expect(head.status).toBe(200);
        const text = await full.text();
        expect(head.headers.get("content-type")).toBe(full.headers.get("content-type"));
        expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
        expect(await head.text()).toBe("");
      }
    } finally {
      await server.stop(true);
    }
  });

  test("list their methods for OPTIONS", async () => {
    const response = await get("/soap/ConservationScorer", {}, "OPTIONS");
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
  });

  test("do not contain an invalid Host", async () => {
    for (const host of ['x"><script>', "a b", "evil.example/path", "user@host"]) {
      const request = new Request(`http://lab/soap/ConservationScorer?wsdl`);
      Object.defineProperty(request, "url", { value: `http://${host}/soap/ConservationScorer?wsdl` });
      const response = await send(request);
      const text = await response.text();
      expect(text.includes(`//${host}`)).toBe(false);
    }
  });
});
