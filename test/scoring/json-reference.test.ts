import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { withoutComments } from "../fixtures/without-comments.ts";
import { WITHOUT_ACCOUNTS } from "../../src/platform/operation.ts";
import { Problem } from "../../src/problem.ts";
import { type ClassModel, METHOD } from "../../src/motif/index.ts";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import { MAX_MODEL } from "../../src/scoring/structure/model-file.ts";
import { helixPdb } from "../fixtures/helix-model.ts";
import { findErrors, listOperations, type Paths } from "../described.ts";
import { type ParsedResponse, ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";

// A busy machine takes its time.
setDefaultTimeout(300_000);

let service: ScoringAlone;
let waiting: ScoringAlone;
let paths: Paths = {};
beforeAll(async () => {
  service = await openScoringAlone({
    workers: 1,
    corpus: true,
    guards: {
      ...WITHOUT_ACCOUNTS,
      signedIn(request) {
        if (!request.headers.has("authorization")) throw new Problem("unauthenticated", "Sign in.");
        return WITHOUT_ACCOUNTS.signedIn(request);
      },
    },
  });
  waiting = await openScoringAlone({
    maxQueued: 1,
    identifyClient: ({ headers }) => headers.get("x-client") ?? "",
  });
  const { json } = await service.ask("GET", "http://lab/docs/json");
  paths = Object.fromEntries(
    Object.entries(listOperations(json)).filter(([path]) => path.startsWith("/api/scoring/")),
  );
});
afterAll(async () => {
  await service.close();
  await waiting.close();
});

/** Statuses seen by operation, to compare with the documented ones. */
const seen = new Map<string, Set<string>>();

/** Calls an operation and checks the response against its documentation. */
async function call(
  on: ScoringAlone,
  method: string,
  template: string,
  {
    id = "",
    name = "",
    query = "",
    ...options
  }: Parameters<ScoringAlone["ask"]>[2] & { id?: string; name?: string; query?: string } = {},
): Promise<ParsedResponse> {
  const operation = paths[`/api/scoring${template}`][method.toLowerCase()];
  const answer = await on.ask(
    method,
    template.replace("{id}", id).replace(/{(name|accession)}/, name) + query,
    options,
  );
  const described =
    operation.responses[answer.status] ?? (answer.status >= 400 ? operation.responses.default : undefined);
  expect({ template, status: answer.status, described: described !== undefined }).toMatchObject({
    described: true,
  });
  const statuses = seen.get(operation.operationId) ?? new Set();
  seen.set(operation.operationId, statuses.add(String(answer.status)));
  if (answer.text === "" && !described.content) return answer;
  const type = answer.headers.get("content-type")!.split(";")[0];
  const schema = described.content?.[type]?.schema;
  expect({ template, type, schema: schema !== undefined }).toMatchObject({ schema: true });
  expect(findErrors(schema!, answer.json ?? answer.text)).toEqual([]);
  return answer;
}

/** Other operations have tests of their own. */
const isOther = (path: string): boolean =>
  /^\/api\/scoring\/(proteome|comparison|watch|proteins\/\{accession\}\/model)/.test(path);
const operationsHere = () =>
  Object.entries(paths).flatMap(([path, methods]) => (isOther(path) ? [] : Object.values(methods)));

test("documents its operations, each with a name, a summary, a tag and responses", () => {
  const operations = operationsHere();
  expect(operations.length).toBeGreaterThan(20);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { operationId, summary, tags, responses, parameters = [], requestBody } of operations) {
    const type = /^addStructureModel|^addModelOf/.test(operationId)
      ? "application/octet-stream"
      : "application/json";
    if (requestBody) expect(Object.keys(requestBody.content!)).toEqual([type]);
    expect(summary).toMatch(/\S/);
    expect(tags).toHaveLength(1);
    for (const { description } of [...Object.values(responses), ...parameters])
      expect(description).toMatch(/\S/);
  }
});

describe("every operation responds as documented:", () => {
  test("submissions, jobs, results, events and cancellation respond as documented", async () => {
    const { requestBody } = paths["/api/scoring/jobs"].post;
    const { example } = requestBody!.content["application/json"];
    for (const body of [
      example,
      { querySequence: P53, patterns: ["P..P", "W{9}"], motifClasses: ["PIP-box"] },
    ]) {
      const { id } = (await call(service, "POST", "/jobs", { body })).json;
      await call(service, "GET", "/jobs/{id}", { id });
      await ended(service, id);
      await call(service, "GET", "/jobs/{id}", { id });
      await call(service, "GET", "/jobs/{id}/events", { id });
      await call(service, "GET", "/jobs/{id}/events", { id, headers: { "Last-Event-ID": "finished" } });
      await call(service, "DELETE", "/jobs/{id}", { id });
      const { parameters } = paths["/api/scoring/jobs/{id}/result"].get;
      for (const format of parameters!.find(({ name }) => name === "format")!.schema.enum!)
        await call(service, "GET", "/jobs/{id}/result", { id, query: `?format=${format}&match=1` });
      await call(service, "GET", "/jobs/{id}/result", { id, headers: { Accept: "image/png" } });
      for (const format of ["json", "tsv", "gff3", "xlsx"])
        await call(service, "GET", "/jobs/{id}/scan", { id, query: `?format=${format}` });
      await call(service, "GET", "/jobs/{id}/features", { id });
      for (const query of [`?jobs=${id}`, `?jobs=none`, `?q=1`, `?jobs=${id}&best=true`])
        await call(service, "GET", "/scans", { query });
    }
    const { id } = (await call(waiting, "POST", "/jobs", { body: example })).json;
    await call(waiting, "GET", "/jobs/{id}/result", { id });
    await call(waiting, "GET", "/jobs/{id}/scan", { id });
    await call(waiting, "GET", "/jobs/{id}/features", { id });
    await call(waiting, "GET", "/scans", { query: `?jobs=${id}` });
    await call(waiting, "POST", "/jobs", { body: example });
    const headers = { "Idempotency-Key": "1" };
    for (const identifier of ["a", "b"])
      await call(service, "POST", "/jobs", { body: { identifier, querySequence: "MKL" }, headers });
    await call(waiting, "DELETE", "/jobs/{id}", { id });
    await call(waiting, "GET", "/jobs/{id}", { id });
    service.database.query("UPDATE job SET expires = 1 WHERE state = 'finished'").run();
    const old = service.database.query("SELECT id FROM job LIMIT 1").get() as { id: string };
    expect(expireJobs(service.database, 2)).toBeGreaterThan(0);
    await call(service, "GET", "/jobs/{id}", { id: old.id });
    await call(service, "GET", "/jobs/{id}/result", { id: old.id });
    await call(service, "GET", "/jobs/{id}/scan", { id: old.id });
    await call(service, "GET", "/jobs/{id}/features", { id: old.id });
    await call(service, "GET", "/scans", { query: `?jobs=${old.id}` });
    await call(service, "POST", "/jobs", { body: "{" });
    await call(service, "POST", "/jobs", { body: { identifier: "x".repeat(100_001) } });
    await call(service, "POST", "/jobs", { body: "", headers: { "Content-Type": "text/plain" } });
    for (const [method, end] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/result"],
      ["GET", "/scan"],
      ["GET", "/features"],
      ["GET", "/events"],
    ]) {
      await call(service, method, `/jobs/{id}${end}`, { id: "none" });
      await call(service, method, `/jobs/{id}${end}`, { id: "none", query: "?none=1" });
    }
  });

  test("batches respond as documented", async () => {
    const body = { proteins: [{ querySequence: "MKLVACDEFGHIK" }], patterns: ["K.V"] };
    const start = async () => (await call(waiting, "POST", "/batches", { body })).json.id as string;
    const id = await start();
    const text = { "Content-Type": "text/plain" };
    for (const wrong of ["{", {}, { ...body, table: "a" }, { proteins: body.proteins }])
      await call(waiting, "POST", "/batches", { body: wrong });
    await call(waiting, "POST", "/batches", { body: { table: "A".repeat(20_000_000) } });
    await call(waiting, "POST", "/batches", { body: "", headers: text });
    const repeated = { "Idempotency-Key": "batch" };
    const kept = await call(waiting, "POST", "/batches", { body, headers: repeated });
    await call(waiting, "POST", "/batches", { body: { ...body, patterns: ["A"] }, headers: repeated });
    await call(waiting, "DELETE", "/batches/{id}", { id: kept.json.id });
    for (const [method, end] of [
      ["GET", ""],
      ["GET", "/items"],
      ["GET", "/matches"],
      ["DELETE", ""],
      ["DELETE", ""],
    ])
      for (const options of [{ id, query: "?none=1" }, { id: "none" }, { id }])
        await call(waiting, method, `/batches/{id}${end}`, options);
    const headers = { "x-client": "another" };
    const other = await start();
    await call(waiting, "DELETE", "/batches/{id}", { id: other, headers });
    await call(waiting, "DELETE", "/batches/{id}", { id: other });
  });

  test("structure models respond as documented", async () => {
    const submission = { querySequence: P53.slice(0, 60), patterns: ["P..P"] };
    const { id } = (await call(service, "POST", "/jobs", { body: submission })).json;
    await ended(service, id);
    const model = helixPdb(submission.querySequence);
    const put = (body: string | Uint8Array, query = "?name=a.pdb", job = id) =>
      call(service, "PUT", "/jobs/{id}/model", { id: job, query, body });
    for (const body of [model, "no model", Bun.gzipSync(" ".repeat(MAX_MODEL + 1))]) await put(body);
    const others = [
      ["GET", "/jobs/{id}/model"],
      ["GET", "/jobs/{id}/model/file"],
      ["DELETE", "/jobs/{id}/model"],
    ] as const;
    for (const [method, path] of others)
      for (const options of [{ id }, { id, query: "?none=1" }, { id: "none" }])
        await call(service, method, path, options);
    await put(model, "?name=a", "none");
    service.database.run("UPDATE job SET expires = 1 WHERE id = ?", [id]);
    expireJobs(service.database, 2);
    await put(model);
    for (const [method, path] of others) await call(service, method, path, { id });
  });

  test("motif classes, expressions and the corpus respond as documented", async () => {
    await call(service, "GET", "/motif-classes");
    await call(service, "GET", "/motif-classes", { query: "?query=sh3" });
    await call(service, "GET", "/motif-classes", { query: "?q=sh3" });
    for (const [on, name] of [
      [service, "PIP-box"],
      [service, "none"],
      [waiting, "PIP-box"],
    ] as const)
      for (const path of ["", "/matches"]) await call(on, "GET", `/motif-classes/{name}${path}`, { name });
    const { example } = paths["/api/scoring/patterns"].post.requestBody!.content["application/json"];
    await call(service, "POST", "/patterns", { body: example });
    await call(service, "POST", "/patterns", { body: { pattern: "(" } });
    await call(service, "POST", "/patterns", { body: { pattern: "A".repeat(100_001) } });
    await call(service, "POST", "/patterns", { body: "", headers: { "Content-Type": "text/plain" } });
    await call(service, "GET", "/corpus");
    await call(service, "GET", "/corpus", { query: "?x" });
    await call(waiting, "GET", "/corpus");
    await call(service, "GET", "/counts");
    await call(service, "GET", "/proteins", { query: "?query=P53_HUMAN" });
    await call(service, "GET", "/proteins", { query: "?query=human&limit=0" });
    for (const name of ["P04637", "P00000"]) await call(service, "GET", "/proteins/{accession}", { name });
  });

  test("corpus files respond as documented to signed-in users", async () => {
    const headers = { Authorization: "Token ours" };
    const { hash: id, bytes } = service.scoring.corpora.active()!;
    const template = "/corpora/{id}";
    const whole = await call(service, "GET", template, { id, headers });
    const tag = whole.headers.get("etag")!;
    await call(service, "GET", template, { id, headers: { ...headers, "If-None-Match": tag } });
    await call(service, "GET", template, { id });
    await call(service, "GET", template, { id: "0".repeat(64), headers });
    await call(service, "GET", template, { id, headers, query: "?x=1" });
    for (const [range, status] of [
      ["bytes=10-19", 206],
      [`bytes=${bytes}-`, 416],
    ] as const)
      expect(
        (await call(service, "GET", template, { id, headers: { ...headers, Range: range } })).status,
      ).toBe(status);
  });

  test("models of motif classes respond as documented", async () => {
    const gain = { without: 0.7, with: 0.8, low: 0.01, high: 0.2 };
    const weights = {
      order: 0.5,
      conservation: 0,
      chainOrder: 0,
      burial: 0,
      terminusProximity: 0,
      abundance: 0,
      pattern: 0,
    };
    const { hash: corpus } = service.scoring.corpora.active()!;
    const model: ClassModel = {
      motifClass: "APC-KEN-box",
      expression: "KEN",
      method: METHOD,
      corpus,
      hash: "1234",
      instances: 5,
      families: 4,
      randomMatches: 100,
      columns: [],
      windows: ["AAAAAACCCCCC"],
      profile: { weight: 0.4, mean: 0, deviation: 1 },
      slopes: weights,
      nullModel: { continuous: { location: 0, scale: 1 }, discontinuous: { location: 0, scale: 1 } },
      gain,
    };
    service.scoring.classModels.replace([model], { inputs: "", learned: 1, reports: [] });
    const template = "/motif-classes/{name}/model";
    const at = (name: string) => call(service, "GET", template, { name });
    expect((await at("DEG_APCC_KENBOX_2")).json).toMatchObject({ hash: "1234", weights: { order: 1.5 } });
    expect((await at("1234")).json).toMatchObject({ motifClass: "APC-KEN-box" });
    expect((await at("PIP-box")).status).toBe(404);
    const { results } = (await call(service, "GET", "/motif-classes", { query: "?query=KENBOX" })).json;
    expect(results).toMatchObject([{ name: "APC-KEN-box", model: { hash: "1234", instances: 5, gain } }]);
    service.scoring.classModels.replace([], { inputs: "", learned: 2, reports: [] });
  });

  test("refuses to change jobs of others", async () => {
    const body = { querySequence: P53, patterns: ["F...W"] };
    const { id } = (await waiting.ask("POST", "/jobs", { body })).json;
    const headers = { "x-client": "another" };
    const model = { id, headers, query: "?name=a", body: helixPdb(P53) };
    for (const refused of [
      await call(waiting, "DELETE", "/jobs/{id}", { id, headers }),
      await call(waiting, "DELETE", "/jobs/{id}/model", { id, headers }),
      await call(waiting, "PUT", "/jobs/{id}/model", model),
    ])
      expect(refused.status).toBe(403);
    await waiting.ask("DELETE", `/jobs/${id}`);
  });

  test("the operations return all documented statuses, except statuses of a stopping service", () => {
    const unseen = operationsHere().map(({ operationId, responses }) => [
      operationId,
      Object.keys(responses).filter((status) => status !== "default" && !seen.get(operationId)?.has(status)),
    ]);
    expect(Object.fromEntries(unseen.filter(([, statuses]) => statuses.length > 0))).toEqual({
      addStructureModel: ["503"],
      getJointScan: ["503"],
      getScoringFeatures: ["503"],
      getScoringResult: ["503"],
      getScoringScan: ["503"],
      // Searches have tests of their own.
      scoreKnownInstances: ["200", "409", "503"],
      submitScoringBatch: ["503"],
      watchScoringJob: ["503"],
    });
  });
});

test("finds proteins of the corpus in use by name and species", async () => {
  const { json } = await service.ask("GET", "/proteins?query=p53_human");
  expect(json).toMatchObject({
    total: 1,
    results: [
      { accession: "P04637", entryName: "P53_HUMAN", organism: "Homo sapiens", taxon: 9606, length: 393 },
    ],
  });
  const two = (await service.ask("GET", "/proteins?query=mouse&limit=2")).json;
  expect(two.results).toHaveLength(2);
  expect(two.total).toBeGreaterThan(2);
  const none = (await service.ask("GET", "/proteins?query=p53+nothing")).json;
  expect(none).toMatchObject({ total: 0, results: [], searched: 496 });
  expect(none.near[0]).toMatchObject({ accession: "P04637" });
  expect((await waiting.ask("GET", "/proteins?query=p53")).json).toMatchObject({ total: 0, results: [] });
  const long = await service.ask("GET", `/proteins?query=${"x".repeat(201)}`);
  expect([long.status, long.text]).toEqual([400, expect.stringContaining("query")]);
});

test("identifies a query that the corpus has under its accession or gene", async () => {
  const sequence = P53;
  const whole = (await service.ask("POST", "/jobs", { body: { accession: "P04637", patterns: ["P..P"] } }))
    .json;
  expect(whole.protein).toMatchObject({
    accession: "P04637",
    gene: "TP53",
    organism: "Homo sapiens",
    length: 393,
  });
  await ended(service, whole.id);
  const { homologs } = (await service.ask("GET", `/jobs/${whole.id}/result`)).json;
  expect(homologs.every((one: object) => "gene" in one)).toBe(true);
  const named = (await service.ask("GET", `/jobs/${whole.id}/result`)).json;
  const scan = (await service.ask("GET", `/jobs/${whole.id}/scan`)).json;
  expect([named.protein, scan.protein]).toEqual([whole.protein, whole.protein]);
  const tsv = (await service.ask("GET", `/jobs/${whole.id}/result?format=tsv`)).text;
  expect(withoutComments(tsv).split("\n")[1]).toContain(
    "\tP04637\tTP53\tCellular tumor antigen p53\tHomo sapiens",
  );
  for (const identifier of ["TP53", "P53_HUMAN", "TP53 human"])
    expect(
      (
        await service.ask("POST", "/jobs", {
          body: { identifier, querySequence: sequence, patterns: ["P..P"] },
        })
      ).json.protein,
    ).toEqual(whole.protein);
  for (const body of [
    { identifier: "P04637", querySequence: sequence.slice(1) },
    { identifier: "mine", querySequence: sequence },
  ])
    expect(
      (await service.ask("POST", "/jobs", { body: { ...body, patterns: ["P..P"] } })).json.protein,
    ).toBeNull();
});

test("accepts exactly the submissions that the schema allows", async () => {
  const { schema } = paths["/api/scoring/jobs"].post.requestBody!.content!["application/json"];
  const good = { querySequence: "MKLT", patterns: ["K.T"] };
  const bodies: [object, boolean][] = [
    [good, true],
    [
      {
        ...good,
        querySequence: "M K\r\n\tLT",
        identifier: "é",
        scoringModel: "discontinuous",
        motifClasses: [],
      },
      true,
    ],
    ...["identifier", "accession", "scoringModel", "patterns", "motifClasses"].map(
      (field): [object, boolean] => [{ ...good, [field]: null }, true],
    ),
    [{ ...good, querySequence: null, accession: "P04637" }, true],
    [{ ...good, patterns: [null] }, false],
    [{ ...good, model: null }, false],
    [{ ...good, scoringModel: "best" }, false],
    [{ ...good, patterns: Array<string>(1001).fill("K") }, false],
    [{ ...good, allMotifClasses: true }, true],
    [{ ...good, allMotifClasses: "true" }, false],
    [{ ...good, motifClasses: [1] }, false],
    [{ ...good, identifier: 1 }, false],
    [{ ...good, model: "continuous" }, false],
  ];
  for (const [body, fits] of bodies) {
    expect({ body, fits: findErrors(schema, body).length === 0 }).toEqual({ body, fits });
    const { status } = await service.ask("POST", "/jobs", { body });
    expect({ body, status }).toEqual({ body, status: fits ? 202 : 400 });
  }
});
