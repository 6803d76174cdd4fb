import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { METHOD } from "../../src/motif/index.ts";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import { inEnvelope, NAMESPACE, type RunJob, runJobMessage } from "../executable/messages.ts";
import { measureCpuTime } from "../motif/cpu-time.ts";
import { openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";
import { waitFor } from "../wait.ts";

const ENDPOINT = "/soap/ConservationScorer";
const MAX_BYTES = 100_000;

let service: ScoringAlone;
/** Without workers: jobs stay in the queue. */
let idle: ScoringAlone;
const logged: unknown[] = [];

beforeAll(async () => {
  service = await openScoringAlone({
    log: { info: () => {}, problem: (...words) => void logged.push(words) },
    workers: 2,
    corpus: true,
    maxMessageBytes: MAX_BYTES,
    namespace: NAMESPACE,
  });
  idle = await openScoringAlone({
    namespace: NAMESPACE,
    retentionDays: 30,
    maxQueuedPerClient: 3,
    receiveTimeoutSeconds: 0.2,
    identifyClient: (request) => request.headers.get("x-test-client") ?? "nobody",
  });
});
afterAll(async () => {
  await service.close();
  await idle.close();
});

interface SoapAnswer {
  status: number;
  headers: Headers;
  xml: string;
  /** Text of the first element of a name. */
  element(name: string): string | undefined;
}

async function post(body: BodyInit, headers: Record<string, string> = {}, to = service): Promise<SoapAnswer> {
  const all = { "Content-Type": "text/xml; charset=utf-8", SOAPAction: '""', ...headers };
  const response = await to.send(
    new Request(`http://lab${ENDPOINT}`, { method: "POST", body, headers: all }),
  );
  const xml = await response.text();
  const element = (name: string) => new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([^<]*)<`).exec(xml)?.[1];
  return { status: response.status, headers: response.headers, xml, element };
}

const ask = (operation: "GetStatus" | "GetResult", id: string, to = service): Promise<SoapAnswer> =>
  post(
    inEnvelope(`<${operation} xmlns="${NAMESPACE}"><JobIdentifier>${id}</JobIdentifier></${operation}>`),
    {},
    to,
  );

async function submit(job: Partial<RunJob> = {}): Promise<string> {
  const answer = await post(runJobMessage({ sequence: P53, patterns: ["F...W..[VIL]"], ...job }));
  expect(answer.status, answer.xml).toBe(200);
  return answer.element("JobIdentifier")!;
}

const ended = (id: string): Promise<SoapAnswer> =>
  waitFor(async () => {
    const answer = await ask("GetStatus", id);
    return ["finished", "failed"].includes(answer.element("Status")!) && answer;
  });

/** The result of a finished job. */
async function result(id: string): Promise<string> {
  expect((await ended(id)).element("Status")).toBe("finished");
  const { status, xml } = await ask("GetResult", id);
  expect(status).toBe(200);
  return xml;
}

const get = (path: string, method = "GET"): Promise<Response> =>
  service.send(new Request(`http://lab.example:8480${path}`, { method }));

describe("a job", () => {
  test("finds the MDM2-binding motif of p53 at 19–26, conserved", async () => {
    const id = await submit();
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect((await ended(id)).element("StatusDetails")).toMatch(/^Took \d+\.\d\d s/);
    const xml = await result(id);
    for (const part of ["ConScorePrediction", "FSDLWKLL", ">conserved<", `>${METHOD}<`])
      expect(xml).toContain(part);
    expect(xml).toMatch(/>19<.*>26</s);
  });

  test("accepts a motif class by its ELM name, and shows that name", async () => {
    const xml = await result(await submit({ patterns: [], names: ["DEG_MDM2_SWIB_1"] }));
    expect(xml).toContain(">DEG_MDM2_SWIB_1<");
    expect(xml).toContain("FSDLWKLL");
  });

  test.each<[string, Partial<RunJob>]>([
    ["no pattern", { patterns: [] }],
    ["empty elements", { patterns: ["", ""], names: [""] }],
    ["a pattern that matches nowhere", { patterns: ["WWWWWW"] }],
    ["an empty sequence", { sequence: "" }],
    ["one residue", { sequence: "M" }],
    ["letters that are no residues", { sequence: "XXXXXXXXXXXXXXXXXXXX" }],
  ])("a job finishes with a prediction for %s", async (_, job) => {
    expect(await result(await submit(job))).toContain("ConScorePrediction>");
  });

  test("a job ignores white space", async () => {
    const sequence = ` ${P53.replaceAll("P", "P\r\n\t")}\n`;
    const spaced = await result(await submit({ sequence, patterns: [" F . . .\tW..[V I L]"] }));
    const scores = /<p:position>.*<p:newickTree>/s;
    expect(spaced.match(scores)![0]).toBe((await result(await submit())).match(scores)![0]);
  });

  test("a job returns the client's identifier escaped", async () => {
    const message = runJobMessage({ sequence: "MKL" });
    const renamed = message.replace(">test<", ">a &lt;b&gt; &amp; ü<");
    const { element } = await post(renamed);
    expect(await result(element("JobIdentifier")!)).toContain(">a &lt;b&gt; &amp; ü<");
  });

  test("a job has different scores under the two models", async () => {
    const scores = [await result(await submit()), await result(await submit({ model: "discontinuous" }))];
    expect(scores[0]).not.toBe(scores[1]);
    expect(scores[1]).toContain(">discontinuous<");
  });
});

describe("a pattern that makes backtracking engines hang", () => {
  const sequence = "A".repeat(999);
  test.each(["(A+)+W", "(A|A)*W", "(A*)*(A*)*W", ".*.*.*W", ".{0,200}.{0,200}W"])(
    "scores %s without delaying other jobs",
    async (expression) => {
      const took = await measureCpuTime(async () => {
        const id = await submit({ sequence, patterns: [expression] });
        await result(await submit({ sequence: "MKL", patterns: [`K{1,${expression.length}}`] }));
        await result(id);
      });
      expect(took).toBeLessThan(20_000);
    },
  );

  test.each([
    ["of nested groups", "(".repeat(20_000) + "A" + ")".repeat(20_000)],
    ["of alternatives", "A|".repeat(40_000)],
    ["of a long literal", "A".repeat(90_000)],
    ["of repeats of repeats", "((A{1,90}){1,90}){1,90}"],
    ["of a count without end", "A{99999999999999}"],
  ])("rejects %s immediately", async (_, expression) => {
    const took = await measureCpuTime(async () => {
      const { status, element } = await post(runJobMessage({ sequence: "A", patterns: [expression] }));
      expect(status).toBe(500);
      expect(element("faultstring")).toContain("regularExpression 1, character");
    });
    expect(took).toBeLessThan(5000);
  });
});

describe("compressed messages", () => {
  const message = runJobMessage({ sequence: "MKL" });

  test.each(["gzip", "x-gzip", "GZIP"])("reads a compressed message in %s", async (encoding) => {
    const answer = await post(Bun.gzipSync(message), { "Content-Encoding": encoding });
    expect([answer.status, answer.element("JobIdentifier")]).toEqual([200, expect.any(String)]);
  });

  test("a compressed message is limited by its uncompressed size, and decompression stops there", async () => {
    const bomb = Bun.gzipSync(" ".repeat(80_000_000));
    expect(bomb.length).toBeLessThan(MAX_BYTES);
    const took = await measureCpuTime(async () => {
      const answer = await post(bomb, { "Content-Encoding": "gzip" });
      expect([answer.status, answer.element("code")]).toEqual([413, "too_large"]);
    });
    expect(took).toBeLessThan(2000);
  });

  test.each([
    ["that is cut off", Bun.gzipSync(message).slice(0, -20)],
    ["that is not gzip", new TextEncoder().encode(message)],
  ])("%s is malformed", async (_, bytes) => {
    const answer = await post(bytes, { "Content-Encoding": "gzip" });
    expect([answer.status, answer.element("code")]).toEqual([500, "malformed"]);
    expect(answer.element("faultstring")).toContain("gzip");
  });
});

describe("Idempotency-Key", () => {
  const message = runJobMessage({ sequence: "MKLV" });

  test("makes a repeated RunJob return the same job, and another one a fault", async () => {
    const jobs = [];
    for (let i = 0; i < 2; i++)
      jobs.push((await post(message, { "Idempotency-Key": "a 1" })).element("JobIdentifier"));
    expect(jobs[1]).toBe(jobs[0]!);
    const other = await post(runJobMessage({ sequence: "MKLW" }), { "Idempotency-Key": "a 1" });
    expect([other.status, other.element("code")]).toEqual([500, "key_reused"]);
    expect(other.element("faultcode")).toBe("soap:Client");
    const json = {
      body: { querySequence: "MKLV", identifier: "test" },
      headers: { "Idempotency-Key": "a 1" },
    };
    expect((await service.ask("POST", "/jobs", json)).json.id).toBe(jobs[0]);
  });

  test.each(["", "é", "x".repeat(256)])(
    "rejects the idempotency key %p, which is not 1 to 255 printable characters",
    async (key) => {
      const answer = await post(message, { "Idempotency-Key": key });
      expect([answer.element("code"), answer.element("faultstring")]).toEqual([
        "invalid_request",
        "Idempotency-Key: expected 1 to 255 printable ASCII characters.",
      ]);
    },
  );
});

describe("GetStatus and GetResult", () => {
  let queries = 0;
  const submitIdle = async (client: string, sequence = `MK${"L".repeat(++queries)}`): Promise<string> => {
    const answer = await post(runJobMessage({ sequence }), { "x-test-client": client }, idle);
    expect(answer.status).toBe(200);
    return answer.element("JobIdentifier")!;
  };
  const place = async (id: string) => (await ask("GetStatus", id, idle)).element("StatusDetails");

  test("an unfinished job has no prediction", async () => {
    const id = await submitIdle("unfinished");
    idle.database.run("UPDATE job SET state = 'running', deadline = 1, started = 0 WHERE id = ?", [id]);
    expect((await ask("GetStatus", id, idle)).element("Status")).toBe("running");
    const { status, xml } = await ask("GetResult", id, idle);
    expect(status).toBe(200);
    expect(xml).toMatch(/<tns:GetResultResponse [^>]*><\/tns:GetResultResponse>/);
    idle.database.run(
      "UPDATE job SET state = 'cancelled', deadline = NULL, ended = 0, failure = '' WHERE id = ?",
      [id],
    );
  });

  test.each([
    ["cancelled", "The job was cancelled.", "Client"],
    ["failed", "Too slow.", "Server"],
  ])("a %s job reports the reason, also once it has expired", async (state, failure, code) => {
    const id = await submitIdle(state);
    idle.database.run("UPDATE job SET ended = 0, expires = 1, state = ?, failure = ? WHERE id = ?", [
      state,
      failure,
      id,
    ]);
    const { element } = await ask("GetStatus", id, idle);
    expect([element("Status"), element("StatusDetails")]).toEqual([state, failure]);
    const fault = await ask("GetResult", id, idle);
    expect([fault.status, fault.element("code")]).toEqual([500, `job_${state}`]);
    expect(fault.element("faultcode")).toEndWith(`:${code}`);
    expect(fault.element("faultstring")).toContain(failure);
    expect(expireJobs(idle.database, 2)).toBe(1);
    const expired = await ask("GetStatus", id, idle);
    expect(expired.element("Status")).toBe("expired");
    expect(expired.element("StatusDetails")).toContain(`ended as ${state} on 1970-01-01`);
    const gone = await ask("GetResult", id, idle);
    expect([gone.status, gone.element("code")]).toEqual([500, "job_expired"]);
    expect(gone.element("faultstring")).toContain("The prediction was removed. The job ended");
  });

  test("queue places are shared fairly, and clients have separate limits", async () => {
    const first = [];
    for (let i = 0; i < 3; i++) first.push(await submitIdle("greedy"));
    const refused = await post(runJobMessage({ sequence: "MMMM" }), { "x-test-client": "greedy" }, idle);
    expect([refused.status, refused.element("code")]).toEqual([500, "busy"]);
    expect(refused.headers.get("retry-after")).toBe("60");
    const other = await submitIdle("modest");
    expect(await place(first[0])).toBe("About place 1 in the queue, which is shared fairly between clients.");
    expect(await place(other)).toStartWith("About place 2 in");
    expect(await place(first[2])).toStartWith("About place 4 in");
  });
});

describe("rejected requests", () => {
  test("rejects a query that is too long without storing a job", async () => {
    const before = service.scoring.counts();
    const { element } = await post(runJobMessage({ sequence: "A".repeat(1001) }));
    expect(element("faultstring")).toContain("querySequence: 1001 residues; at most 1000");
    expect(service.scoring.counts()).toEqual(before);
  });

  test("rejects a message above the limit with 413, whether its length is declared or not", async () => {
    const long = inEnvelope(`<!-- ${"x".repeat(MAX_BYTES)} -->`);
    const declared = await post(long, { "Content-Length": String(long.length) });
    expect([declared.status, declared.element("code")]).toEqual([413, "too_large"]);
    expect(declared.element("faultstring")).toContain(`has ${long.length} bytes; at most ${MAX_BYTES}`);
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(" ".repeat(10_000))),
    });
    expect((await post(endless)).status).toBe(413);
  });

  test.each(["PUT", "DELETE", "PATCH"])("rejects %s with 405 and Allow", async (method) => {
    const response = await get(ENDPOINT, method);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS, POST"]);
    expect(await response.text()).toContain("Fault>");
  });

  test.each([{}, { "Content-Length": "900" }, { "Content-Length": "90000" }])(
    "with %p closes the connection with 408 if a message does not arrive",
    async (headers) => {
      const endless = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("<Envelope")),
      });
      const answer = await post(endless, headers as Record<string, string>, idle);
      expect([answer.status, answer.element("code")]).toEqual([408, "timeout"]);
      expect(answer.element("faultcode")).toEndWith(":Client");
      expect(answer.element("faultstring")).toContain("within 0.2 seconds");
      expect(answer.headers.get("connection")).toBe("close");
    },
  );

  test("rejects a truncated message as malformed", async () => {
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("<Envelope"));
        setTimeout(() => controller.error(new Error("gone")), 10);
      },
    });
    expect((await post(broken)).element("code")).toBe("malformed");
  });

  test("logs no problem for rejected requests", () => expect(logged).toEqual([]));

  test("rejects a job that cannot be written to the disk, and logs the cause", async () => {
    service.database.run("PRAGMA query_only = 1");
    const { element } = await post(runJobMessage({ sequence: "MDISK" }));
    service.database.run("PRAGMA query_only = 0");
    expect(element("code")).toBe("busy");
    expect(logged).toEqual([["soap", { code: "busy", cause: expect.stringMatching(/readonly/) }]]);
  });
});

describe("documents", () => {
  test.each(["?wsdl", "?WSDL", "?Wsdl", "?wsdl=", "?x=1&wsdl", "?singleWsdl"])(
    "%s returns the WSDL",
    async (query) => {
      const response = await get(ENDPOINT + query);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        "text/xml; charset=utf-8",
      ]);
      const xml = await response.text();
      expect(xml).toContain(`targetNamespace="${NAMESPACE}"`);
      expect(xml).toContain('location="http://lab.example:8480/soap/ConservationScorer"');
    },
  );

  test.each([
    ["messages.xsd", 'schemaLocation="http://lab.example:8480/soap/ConservationScorer/prediction.xsd"'],
    ["prediction.xsd", 'name="ConScorePrediction"'],
  ])("the documents include %s", async (name, word) => {
    const response = await get(`${ENDPOINT}/${name}`);
    expect(response.headers.get("content-type")).toBe("text/xml; charset=utf-8");
    expect(await response.text()).toContain(word);
    expect((await get(`${ENDPOINT}/${name}`, "POST")).status).toBe(405);
  });

  test("the endpoint without a parameter leads to the guide", async () => {
    const response = await get(ENDPOINT);
    const location = "/help/soap";
    expect([response.status, response.headers.get("location")]).toEqual([302, location]);
  });

  test.each(["?xsd=1", "?disco", "?wsdl2", "/", "/?wsdl", "/other.xsd"])(
    "the documents do not include %s",
    async (path) => {
      const response = await get(ENDPOINT + path);
      expect(response.status).toBe(404);
      if (path.startsWith("?"))
        expect(await response.text()).toContain(
          "The WSDL is http://lab.example:8480/soap/ConservationScorer?wsdl,",
        );
    },
  );

  test.each(["?wsdl", "/messages.xsd", "/prediction.xsd"])(
    "returns 304 for %s with the current entity tag",
    async (path) => {
      const tag = (await get(ENDPOINT + path)).headers.get("etag")!;
      const url = `http://lab.example:8480${ENDPOINT}${path}`;
      const again = await service.send(new Request(url, { headers: { "If-None-Match": tag } }));
      expect([again.status, await again.text()]).toEqual([304, ""]);
      const changed = await service.send(new Request(url, { headers: { "If-None-Match": '"other"' } }));
      expect(changed.status).toBe(200);
    },
  );

  test.each(["?wsdl", "/messages.xsd", "/prediction.xsd"])(
    "HEAD returns the headers of GET: %p",
    async (path) => {
      const [head, full] = [await get(ENDPOINT + path, "HEAD"), await get(ENDPOINT + path)];
      expect(head.status).toBe(200);
      expect(head.headers.get("content-type")).toBe(full.headers.get("content-type"));
    },
  );

  test("OPTIONS lists the methods of the documents", async () => {
    const response = await get(ENDPOINT, "OPTIONS");
    expect([response.status, response.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS, POST"]);
  });

  test.each(['x"><script>', "a b", "evil.example/path", "user@host"])(
    "the documents do not contain the Host %s",
    async (host) => {
      const request = new Request(`http://lab${ENDPOINT}?wsdl`);
      Object.defineProperty(request, "url", { value: `http://${host}${ENDPOINT}?wsdl` });
      const text = await (await service.send(request)).text();
      expect(text.includes(`//${host}`)).toBe(false);
    },
  );
});

test("returns a fault for a message to a host that is not allowed", async () => {
  const strict = await openScoringAlone({ namespace: NAMESPACE, allowedHosts: ["lab.example"] });
  const answers = [await ask("GetStatus", "none", strict)];
  answers.push(await post("<x/>", { "Content-Type": "application/soap+xml" }, strict));
  await strict.close();
  expect(answers.map(({ status, headers }) => [status, headers.get("content-type")])).toEqual([
    [500, "text/xml; charset=utf-8"],
    [400, "application/soap+xml; charset=utf-8"],
  ]);
  for (const { xml } of answers) expect(xml).toContain("Host: lab is not a name of this service.");
});
