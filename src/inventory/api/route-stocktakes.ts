import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import { runInTurn } from "./respond-to-write.ts";
import { content, detail, inQuery, refusalsOf } from "./route-description.ts";
import { csvText } from "../imports/export-file.ts";
import type { Json } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { changeableParent, readableParent, showSubResource } from "./sub-resource-request.ts";
import { readJson } from "./request-body.ts";
import { respond, ROOT } from "./response.ts";
import { type Count, MISSING, type Missing, openStocktaking, STOCKTAKE } from "../labels/stocktake.ts";
import type { Store } from "../records/store.ts";
import { DRY_RUN, PREVIEW } from "./write-parameters.ts";
import { Problem } from "../../problem.ts";

const READ = "GET, HEAD, OPTIONS";
const SCANS = "POST, DELETE, OPTIONS";
const APPLY = "POST, OPTIONS";
/** Codes of one request. */
const MOST = 1000;

type Context = { request: Request; params: Record<string, string | null> };

/** Scanning, counting and applying a stocktake; the stocktakes themselves are a list like any other. */
export function addStocktakes(app: Elysia, answers: Answers, store: Store, maxMessageBytes: number): void {
  const taking = openStocktaking(store);

  const count = ({ request, params }: Context): Response => {
    const call = answers.begin(request, READ);
    if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: READ });
    const { rid } = readableParent(store, call, STOCKTAKE, params.id ?? "");
    const counted = taking.count(rid, call.actor);
    const format = call.url.searchParams.get("format") ?? "json";
    if (format === "csv")
      return respond(reportCsv(counted), 200, MEDIA_TYPES.csv, {
        Allow: READ,
        "Content-Disposition": 'attachment; filename="stocktake.csv"',
      });
    if (format !== "json" && format !== "api") throw parameterProblem("format", "Choices: json, csv.");
    return showSubResource(call, counted as unknown as Json, READ);
  };

  const scans = async ({ request, params }: Context): Promise<Response> => {
    const call = answers.beginKnown(request, SCANS);
    if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: SCANS });
    const body = call.method === "POST" ? await readJson(request, maxMessageBytes) : {};
    const find = (): number => changeableParent(store, call, STOCKTAKE, params.id ?? "");
    if (call.method === "DELETE") {
      const code = call.url.searchParams.get("code") ?? "";
      if (code.trim() === "")
        throw new Problem("invalid_request", "code: Name the code that is to be forgotten.");
      const known = await store.enqueue(() => store.statements.writing(() => taking.forget(find(), code)));
      if (!known) throw new Problem("not_found", "This code was not scanned.");
      return respond(null, 204, "", { Allow: SCANS });
    }
    const { codes, place } = readCodes(body);
    const results = await store.enqueue(() =>
      store.statements.writing(() => taking.scan(find(), codes, place, call.actor)),
    );
    return respond(JSON.stringify({ results }), 200, MEDIA_TYPES.json, { Allow: SCANS });
  };

  const apply = async ({ request, params }: Context): Promise<Response> => {
    const call = answers.beginKnown(request, APPLY);
    if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: APPLY });
    const missing = readMissing(await readJson(request, maxMessageBytes));
    return runInTurn(
      store,
      call,
      "bulk_update",
      (writing) => {
        const rid = changeableParent(store, call, STOCKTAKE, params.id ?? "");
        return taking.apply(writing, rid, missing, call.actor);
      },
      (counted) => respond(JSON.stringify(counted), 200, MEDIA_TYPES.json, { Allow: APPLY }),
    );
  };

  const path = `${ROOT}${STOCKTAKE.segment}/:id/`;
  app
    .get(`${path}count/`, count, {
      detail: detail({
        summary: "What a stocktake has come to",
        description: "While it is open, as of now; once applied, the report that was kept.",
        parameters: [ID, { ...inQuery("format", "json, or csv: the report as a table.") }],
        responses: {
          200: {
            description: "Counts, and what they are of.",
            content: { ...content(COUNT), "text/csv": { schema: text } },
          },
          ...refusals(400, 401, 404, 413),
        },
      }),
    })
    .post(`${path}scans/`, scans, {
      parse: "none",
      detail: detail({
        summary: "Add scanned codes",
        description: `At most ${MOST} at once, each kept once. Any number of devices may add to one stocktake.`,
        security: [{ token: [] }],
        parameters: [ID],
        requestBody: { required: true, content: content(CODES) },
        responses: {
          200: { description: "What each code is.", content: content(VERDICTS) },
          ...refusals(400, 401, 403, 404, 409, 413, 415),
        },
      }),
    })
    .delete(`${path}scans/`, scans, {
      parse: "none",
      detail: detail({
        summary: "Take a scan back",
        security: [{ token: [] }],
        parameters: [ID, { ...inQuery("code", "What was scanned."), required: true }],
        responses: { 204: { description: "Done." }, ...refusals(400, 401, 403, 404, 409) },
      }),
    })
    .post(`${path}apply/`, apply, {
      parse: "none",
      detail: detail({
        summary: "Write what a stocktake found",
        description:
          "Moves what is misplaced to where it was found, does with what is missing what `missing` says, and keeps the report: one batch, which can be undone. What the caller may not change stays as it is, and the report says so.",
        security: [{ token: [] }],
        parameters: [ID, ...DRY_RUN],
        requestBody: { required: true, content: content(HOW) },
        responses: {
          200: {
            description: "The report; of a dry run, what would change.",
            content: content({ anyOf: [COUNT, PREVIEW] }),
          },
          ...refusals(400, 401, 403, 404, 409, 413, 415),
        },
      }),
    });
  for (const end of ["", "/"]) {
    app.all(`${path}count${end}`, count, HIDDEN);
    app.all(`${path}scans${end}`, scans, HIDDEN);
    app.all(`${path}apply${end}`, apply, HIDDEN);
  }
}

/** @throws Problem invalid_request */
function readCodes(body: Json): { codes: string[]; place: string | null } {
  const { code, codes = code === undefined ? undefined : [code], place = null, ...rest } = objectOf(body);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw parameterProblem(unknown, "Unknown; choices: codes, code, place.");
  if (!Array.isArray(codes) || codes.length === 0)
    throw parameterProblem("codes", "Expected a list of codes.");
  if (codes.length > MOST) throw parameterProblem("codes", `At most ${MOST} at once.`);
  const texts = codes.map((each) => {
    if (typeof each !== "string" || each.trim() === "" || each.includes("\0") || !each.isWellFormed())
      throw parameterProblem("codes", "Every code is a text, and none is empty.");
    return each;
  });
  if (place !== null && typeof place !== "string")
    throw parameterProblem("place", "Expected the id of a location.");
  return { codes: texts, place };
}

/** @throws Problem invalid_request */
function readMissing(body: Json): Missing {
  const { missing = "keep", ...rest } = objectOf(body);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw parameterProblem(unknown, "Unknown; choices: missing.");
  if (!MISSING.includes(missing as Missing))
    throw parameterProblem("missing", `Choices: ${MISSING.join(", ")}.`);
  return missing as Missing;
}

function objectOf(body: Json): Record<string, Json> {
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw new Problem("invalid_request", "Expected a JSON object.");
  return body;
}

/** The report as a table: a line for each thing. */
function reportCsv(count: Count): string {
  const names = ["result", "list", "id", "name", "barcode", "code", "recorded_in", "found_in", "done"];
  const lines = (["found", "misplaced", "missing", "unknown", "other"] as const).flatMap((result) =>
    count[result].map((line) => {
      const item = line as Record<string, Json>;
      const nameOf = (value: Json | undefined): Json => (value as { name: string } | null)?.name ?? null;
      return {
        result,
        list: item.segment ?? null,
        id: item.id ?? null,
        name: item.name ?? null,
        barcode: item.barcode ?? null,
        code: item.code ?? null,
        recorded_in: nameOf(item.at),
        found_in: nameOf(item.to),
        done: item.done ?? null,
      };
    }),
  );
  return csvText(names, lines);
}

const HIDDEN = { parse: "none", detail: { hide: true } } as const;
const MEANINGS: Record<number, string> = {
  400: "A parameter or a field is wrong or unknown; it is named.",
  403: "The caller may view the stocktake, but not change it.",
  404: "No such stocktake for this caller, or its location is gone.",
  409: "The stocktake was applied already, or it would come out otherwise than confirmed.",
  413: "Too much of it.",
  415: "The body is no JSON.",
};
const refusals = refusalsOf(MEANINGS);
const text = { type: "string" };
const ID = {
  name: "id",
  in: "path",
  required: true,
  description: "Identifier of the stocktake.",
  schema: text,
};
const object = (properties: Record<string, object>) => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});
const listOf = (items: object) => ({ type: "array", items });
const CODES = {
  type: "object",
  properties: {
    codes: { ...listOf(text), description: "What was scanned." },
    place: {
      ...text,
      nullable: true,
      description: "Id of the location inside in which it was scanned; without it, somewhere in the whole.",
    },
  },
};
const HOW = {
  type: "object",
  properties: {
    missing: {
      ...text,
      enum: [...MISSING],
      description:
        "What to do with what is missing. keep: nothing; status: give it the status MISSING; clear: take its location away.",
    },
  },
};
const RECORD = object({ segment: text, id: text, name: text });
const VERDICTS = object({
  results: listOf(
    object({
      code: text,
      verdict: { ...text, enum: ["found", "misplaced", "place", "unknown", "other"] },
      again: { type: "boolean", description: "Whether it was scanned before." },
      record: { ...RECORD, nullable: true },
      matches: { ...listOf(RECORD), description: "All that an unclear code may mean." },
    }),
  ),
});
const PLACE = object({ id: text, name: text });
const COUNT = object({
  location: PLACE,
  counts: object(
    Object.fromEntries(
      ["expected", "found", "misplaced", "missing", "unknown", "other", "places"].map((name) => [
        name,
        { type: "integer" },
      ]),
    ),
  ),
  ...Object.fromEntries(
    ["found", "misplaced", "missing", "unknown", "other", "places"].map((name) => [
      name,
      listOf({ type: "object" }),
    ]),
  ),
});
