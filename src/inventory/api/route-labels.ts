import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import { content, detail, type Detail, refusalsOf } from "./route-description.ts";
import { labelsOf } from "../labels/label.ts";
import { type Sheet, SHEETS, sheetNamed } from "../labels/sheet.ts";
import type { Symbology } from "../labels/symbol.ts";
import { type Json, KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { parseListing } from "../model/listing.ts";
import { listParameters } from "../model/schema.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { respond, ROOT } from "./response.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";

const METHODS = "GET, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;
/** Labels of one file. */
const MOST = 2000;
const PDF = "application/pdf";
const ZPL = "application/zpl";
/** The same in `label/zpl.ts`, which is loaded when it is needed. */
const RESOLUTIONS = [203, 300, 600];

/** Parameters of labels besides those of the list. */
const OWN: Readonly<Record<string, string>> = {
  format: "pdf (default) or zpl, for printers of labels.",
  sheet: `What is printed on: ${SHEETS.map(({ name }) => name).join(", ")}, or the size of a label on a roll in millimetres, such as 40x20.`,
  symbol:
    "qr (default): a QR code with the address of the record; code128: bars with its barcode or the beginning of its id.",
  skip: "Labels of the first sheet that are gone already.",
  dpi: `Of a printer of labels: ${RESOLUTIONS.join(", ")}; 203 by default.`,
};
/** Parameters that say how a list is shown; labels show it otherwise. */
const OTHERS = new Set(["format", "response_format", "fields", "as_of", "explain"]);

/** Labels of all that a list finds, to be printed. */
export function addLabels(app: Elysia, answers: Answers, store: Store): void {
  // Only what has an id of its own kind can be found again by it.
  const labelled = RESOURCES.filter(({ fields }) => fields.id.kind === "uuid");
  const tables = [...new Set(labelled.map(({ table }) => table))];
  const labels =
    (resource: RoutedResource) =>
    async ({ request }: { request: Request }): Promise<Response> => {
      const call = answers.begin(request, METHODS);
      if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: METHODS });
      const parameters = new URLSearchParams(call.url.searchParams);
      const { format, sheet, symbol, skip, dpi } = readManner(parameters);
      for (const name of Object.keys(OWN)) parameters.delete(name);
      const past = ["as_of", "explain"].find((name) => parameters.has(name));
      if (past !== undefined) throw parameterProblem(past, "Labels are of records as they are.");
      const listing = parseListing(DECLARED, resource, parameters, call.actor);
      const whole = !parameters.has("page") && !parameters.has("page_size");
      const { total, rids } = store.reader.list(
        resource,
        whole ? { ...listing, size: MOST } : listing,
        call.actor,
      );
      if ((whole ? total : rids.length) > MOST)
        throw new Problem(
          "too_large",
          `${total} records; at most ${MOST} labels are made at once. Filter further, or ask for pages: page_size=${MOST}&page=1.`,
        );
      if (rids.length === 0)
        throw new Problem("not_found", "Nothing is found, so there are no labels to make.");
      // A phone that reads the code opens this page of the service.
      const page = `${call.base.slice(0, -ROOT.length)}/i/`;
      const source = { reading: store.reader, statements: store.statements, tables };
      const made = labelsOf(source, resource, rids, call.actor, page);
      const name = `${resource.segment.replaceAll("/", "-")}-labels`;
      const headers = { Allow: METHODS, "Content-Disposition": `attachment; filename="${name}.${format}"` };
      if (format === "zpl") {
        const { fitsZpl, labelZpl } = await import("../labels/zpl.ts");
        const over = made.find((label) => !fitsZpl(label, sheet, symbol, dpi));
        if (over) throw unreadable(sheet, symbol, over.name, `at ${dpi} dpi`);
        return respond(labelZpl(made, sheet, symbol, dpi), 200, ZPL, headers);
      }
      const { labelPdf, tooNarrow } = await import("../labels/pdf.ts");
      const over = made.find((label) => tooNarrow(label, sheet, symbol) !== undefined);
      if (over) throw unreadable(sheet, symbol, over.name, "");
      const bytes = await labelPdf(made, sheet, symbol, skip, name);
      return new Response(bytes, { headers: { "Content-Type": PDF, ...headers } });
    };

  const sheets = ({ request }: { request: Request }): Response => {
    const call = answers.begin(request, METHODS);
    if (call.method === "OPTIONS") return respond(null, 204, "", { Allow: METHODS });
    const results = SHEETS.map(({ name, about, label, grid }): Json => {
      const { width, height } = label;
      return { name, about, width, height, per_page: grid ? grid.columns * grid.rows : 1 };
    });
    return respond(JSON.stringify({ results, most: MOST, resolutions: RESOLUTIONS }), 200, MEDIA_TYPES.json, {
      Allow: METHODS,
    });
  };

  for (const resource of labelled) {
    const { segment } = resource;
    app.get(`${ROOT}${segment}/labels/`, labels(resource), { detail: describe(resource) });
    for (const prefix of [segment, ...(resource.aliases ?? [])])
      for (const end of ["", "/"]) app.all(`${ROOT}${prefix}/labels${end}`, labels(resource), HIDDEN);
  }
  app.get(`${ROOT}labels/`, sheets, {
    detail: detail({
      summary: "What labels can be printed on",
      responses: {
        200: { description: "Sheets and rolls; lengths in millimetres.", content: content(SHEET_LIST) },
        ...refusals(401),
      },
    }),
  });
  for (const end of ["", "/"]) app.all(`${ROOT}labels${end}`, sheets, HIDDEN);
}

interface Manner {
  format: "pdf" | "zpl";
  sheet: Sheet;
  symbol: Symbology;
  skip: number;
  dpi: number;
}

/** How labels are wanted. @throws Problem invalid_request */
function readManner(parameters: URLSearchParams): Manner {
  const chosen = <T extends string>(name: string, choices: readonly T[]): T => {
    const typed = (parameters.get(name) || choices[0]) as T;
    if (!choices.includes(typed)) throw parameterProblem(name, `Choices: ${choices.join(", ")}.`);
    return typed;
  };
  const format = chosen("format", ["pdf", "zpl"]);
  const symbol = chosen("symbol", ["qr", "code128"]);
  const dpi = Number(chosen("dpi", RESOLUTIONS.map(String)));
  const sheet = sheetNamed(parameters.get("sheet") || (format === "zpl" ? "50x25" : SHEETS[0].name));
  if (!sheet)
    throw parameterProblem(
      "sheet",
      `Choices: ${SHEETS.map(({ name }) => name).join(", ")}, or a size from 15x8 to 150x150.`,
    );
  if (format === "zpl" && sheet.grid)
    throw parameterProblem("sheet", "ZPL is for labels on a roll: name one by its size, such as 50x25.");
  const skip = Number(KINDS.integer.parse(parameters.get("skip") || "0") ?? -1);
  const most = sheet.grid ? sheet.grid.columns * sheet.grid.rows - 1 : 0;
  if (skip < 0 || skip > most)
    throw parameterProblem(
      "skip",
      most === 0 ? "A roll has nothing to skip." : `Expected a whole number from 0 to ${most}.`,
    );
  return { format, sheet, symbol, skip, dpi };
}

const unreadable = ({ name }: Sheet, symbol: Symbology, record: string, how: string): Problem =>
  parameterProblem(
    "sheet",
    `${name} is too small for the ${symbol === "qr" ? "QR code" : "bars"} of ${record.slice(0, 60)} to be read${how && ` ${how}`}. ` +
      (symbol === "qr" ? "Take larger labels." : "Take larger labels, or symbol=qr."),
  );

const MEANINGS: Record<number, string> = {
  400: "A parameter is wrong or unknown; it is named.",
  404: "Nothing is found.",
  413: "More records than labels are made at once.",
};
const refusals = refusalsOf(MEANINGS);

const describe = (resource: RoutedResource): Detail =>
  detail({
    summary: `Labels of ${resource.segment}`,
    description: `Of all that the filters of the list find, in its order, at most ${MOST}: name, kind and place, a code, and the code in plain text.`,
    parameters: [
      ...Object.entries(OWN).map(([name, description]) => ({
        name,
        in: "query",
        required: false,
        description,
        schema: { type: "string" },
      })),
      ...listParameters(DECLARED, resource).filter(({ name }) => !OTHERS.has(name)),
    ],
    responses: {
      200: {
        description: "A file.",
        content: {
          [PDF]: { schema: { type: "string", format: "binary" } },
          [ZPL]: { schema: { type: "string" } },
        },
      },
      ...refusals(400, 401, 404, 413),
    },
  });

const text = { type: "string" };
const number = { type: "number" };
const SHEET_LIST = {
  type: "object",
  required: ["results", "most", "resolutions"],
  properties: {
    results: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "about", "width", "height", "per_page"],
        properties: { name: text, about: text, width: number, height: number, per_page: { type: "integer" } },
      },
    },
    most: { type: "integer", description: "Labels of one file." },
    resolutions: {
      type: "array",
      items: { type: "integer" },
      description: "Dots in an inch, of printers of labels.",
    },
  },
};
