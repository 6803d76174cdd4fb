import { Type } from "typebox";
import { type Choice, type Label, makeLabels, PARTS } from "../labels/label.ts";
import { scan } from "../labels/scan.ts";
import type { Symbology } from "../labels/symbol.ts";
import { type Sheet, SHEETS, findSheet } from "../labels/sheet.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIMITS } from "../model/limits.ts";
import { LIST_PARAMETERS, parseListing } from "../model/listing.ts";
import { listParameter, OTHER_FILTERS } from "../model/list-parameters.ts";
import { placeFields, formatPlace } from "../model/search-query.ts";
import { RESOURCES, type RoutedResource } from "../resources/index.ts";
import { type Call, respond, respondJson } from "./call.ts";
import { inList } from "./mount-operations.ts";
import { operation } from "../../platform/operation.ts";
import { API_ROOT } from "../model/resource.ts";
import { binary, COUNT, TEXT } from "./schema.ts";
import { paced } from "../../platform/byte-budget.ts";
import { PAGE_POSITION, singlePage } from "../../platform/page.ts";
import { exceeded } from "../../platform/limits.ts";
import { NOT_BLANK } from "../../platform/schema.ts";
import { Problem } from "../../problem.ts";

const PDF = "application/pdf";
const ZPL = "application/zpl";
const SVG = "image/svg+xml";
const MAX_LINES = 8;
/** Dots per inch; also in `labels/zpl.ts`, which is loaded on demand. */
const RESOLUTIONS = ["203", "300", "600"] as const;
type Resolution = 203 | 300 | 600;
const SHEET_NAMES = SHEETS.map(({ name }) => name).join(", ");

const OPTIONS = Type.Object({
  format: Type.Optional(
    Type.Enum(["pdf", "zpl"], {
      $id: "format_of_labels",
      description: "pdf (default), or zpl for label printers.",
    }),
  ),
  sheet: Type.Optional(
    Type.String({
      $id: "sheet",
      description: `Sheet or roll: ${SHEET_NAMES}, or the size of roll labels in millimetres, such as 40x20.`,
      examples: [SHEETS[0].name],
    }),
  ),
  symbol: Type.Optional(
    Type.Enum(["qr", "code128"], {
      $id: "symbol",
      description:
        "qr (default): a QR code with the URL of the record; code128: a barcode with the barcode or the beginning of the id.",
    }),
  ),
  skip: Type.Optional(
    Type.Integer({
      $id: "skip",
      minimum: 0,
      description: "Number of labels already used on the first sheet.",
    }),
  ),
  dpi: Type.Optional(
    Type.Enum([...RESOLUTIONS], {
      $id: "dpi",
      description: "Resolution of a label printer; 203 by default.",
    }),
  ),
  fields: Type.Optional(
    Type.String({
      $id: "fields_of_labels",
      description: `Lines, at most ${MAX_LINES}: name, path (of the place), barcode (or the id), and fields as in lists; by default name, type and path, barcode.`,
      examples: ["name,path,barcode"],
    }),
  ),
  preview: Type.Optional(
    Type.Boolean({ $id: "preview_of_labels", description: "true: the first page as an image (SVG)." }),
  ),
});
type Options = Type.Static<typeof OPTIONS>;

const LABELS = Type.Object(
  {
    ...PAGE_POSITION,
    results: Type.Array(
      Type.Object({ name: TEXT, about: TEXT, width: Type.Number(), height: Type.Number(), per_page: COUNT }),
    ),
    most: Type.Integer({ description: "Maximum number of labels in a file." }),
    resolutions: Type.Array(Type.Unsafe<Resolution>(COUNT), {
      description: "Printer resolutions in dots per inch.",
    }),
  },
  { $id: "LabelSheets" },
);

export type LabelSheets = Type.Static<typeof LABELS>;

/** Parameters of lists that do not apply to labels. */
const UNSUPPORTED_PARAMETERS = ["as_of", "explain"];
const LIST_OPTIONS = [
  ...Object.keys(LIST_PARAMETERS)
    .filter((name) => !["format", "response_format", "fields", ...UNSUPPORTED_PARAMETERS].includes(name))
    .map(listParameter),
  OTHER_FILTERS,
];

/** Printable labels for the records of a list. */
export function labelOperations() {
  // A scanned code can only lead to records with a UUID.
  const labelled = RESOURCES.filter(({ fields }) => fields.id.kind === "uuid");
  const tables = [...new Set(labelled.map(({ table }) => table))];
  return [
    ...labelled.flatMap((resource) =>
      inList(resource, [
        operation("GET /api/v2/:list/labels/", {
          access: "anyone",
          summary: "Print labels for records",
          description: `For all records that the list parameters select, at most ${LIMITS.labels.max}, in the order of the list.`,
          query: OPTIONS,
          parameters: [LIST_OPTIONS],
          formats: {
            ...binary(PDF, "Labels"),
            [ZPL]: { schema: Type.String() },
            [SVG]: { schema: Type.String() },
          },
          heavy: true,
          run({ query }, call: Call) {
            const print = parsePrint(query);
            return makeFile(resource, makeRecordLabels(call, resource, tables, print), print);
          },
        }),
      ]),
    ),
    operation("GET /api/v2/labels/", {
      access: "anyone",
      summary: "List label sheets and rolls",
      description: "Lengths are in millimetres.",
      returns: LABELS,
      run() {
        const results = SHEETS.map((sheet) => {
          const { name, about, label } = sheet;
          return { name, about, ...label, per_page: countPositions(sheet) };
        });
        return respondJson({
          ...singlePage(results),
          most: LIMITS.labels.max,
          resolutions: RESOLUTIONS.map(Number),
        });
      },
    }),
  ];
}

const countPositions = ({ grid }: Sheet): number => (grid ? grid.columns * grid.rows : 1);

/** @throws Problem invalid_request */
function parsePrint({ format = "pdf", symbol = "qr", skip = 0, dpi = "203", ...query }: Options) {
  const { preview = false, fields = "" } = query;
  const names = [...new Set(fields.split(",").map((name) => name.trim()))].filter((name) => name !== "");
  if (names.length > MAX_LINES) throw parameterProblem("fields", `Choose at most ${MAX_LINES} lines.`);
  const sheet = findSheet(query.sheet || (format === "zpl" ? "50x25" : SHEETS[0].name));
  if (!sheet) throw parameterProblem("sheet", `Choices: ${SHEET_NAMES}, or a size from 15x8 to 150x150.`);
  if (format === "zpl" && sheet.grid)
    throw parameterProblem("sheet", "ZPL prints on rolls. Give a size such as 50x25.");
  const most = countPositions(sheet) - 1;
  if (skip > most)
    throw parameterProblem(
      "skip",
      most === 0 ? "A roll has no used labels to skip." : `Expected a whole number from 0 to ${most}.`,
    );
  return { format, sheet, symbol, skip, dpi: Number(dpi), preview, names };
}

type Print = ReturnType<typeof parsePrint>;

/** @throws Problem not_found, too_large */
function makeRecordLabels(
  call: Call,
  resource: RoutedResource,
  tables: readonly string[],
  { preview, sheet, skip, names }: Print,
): Label[] {
  const { actor, base, store, url } = call;
  const parameters = new URLSearchParams(url.searchParams);
  for (const name of Object.keys(OPTIONS.properties)) parameters.delete(name);
  const refused = UNSUPPORTED_PARAMETERS.find((name) => parameters.has(name));
  if (refused !== undefined) throw parameterProblem(refused, "Labels show records as they are now.");
  const fields = names.filter((name) => !PARTS.includes(name));
  if (fields.length > 0) parameters.set("fields", fields.join());
  const listing = parseListing(store.resources, resource, parameters, actor, LIMITS.labels);
  const paged = preview || parameters.has("page") || parameters.has("page_size");
  const size = preview ? countPositions(sheet) - skip : LIMITS.labels.max;
  const isWhole = preview || !paged;
  const found = store.reader.list(resource, isWhole ? { ...listing, size } : listing, actor);
  if ((paged ? found.rids.length : found.total) > LIMITS.labels.max)
    throw new Problem("too_large", exceeded(LIMITS.labels));
  if (found.rids.length === 0) throw new Problem("not_found", "No record matches.");
  // The page that a phone opens when it scans the code.
  const page = `${base.slice(0, -API_ROOT.length)}/i/`;
  const source = { reader: store.reader, statements: store.statements, tables };
  const choice: Choice | undefined =
    names.length > 0 ? { names, annotations: listing.annotations } : undefined;
  return makeLabels(source, resource, found.rids, { actor, page, choice });
}

async function makeFile(
  { segment }: RoutedResource,
  labels: readonly Label[],
  { format, sheet, symbol, skip, dpi, preview }: Print,
): Promise<Response> {
  const name = `${segment.replaceAll("/", "-")}-labels`;
  const headers = { "Content-Disposition": `attachment; filename="${name}.${format}"` };
  const [{ fitsLabel }, { labelZpl, zplPrinter }, { labelPdf, openPdfPrinter }] = await Promise.all([
    import("../labels/layout.ts"),
    import("../labels/zpl.ts"),
    import("../labels/pdf.ts"),
  ]);
  const printer = format === "zpl" ? zplPrinter(dpi) : await openPdfPrinter(sheet);
  const oversized = labels.find((label) => !fitsLabel(label, sheet, symbol, printer));
  const resolution = format === "zpl" ? ` at ${dpi} dpi` : "";
  if (oversized) throw tooSmallProblem(sheet, symbol, oversized.name.slice(0, 60) + resolution);
  if (preview) {
    const { labelSvg } = await import("../labels/svg.ts");
    return respond(labelSvg(labels, sheet, symbol, printer, skip), 200, SVG);
  }
  if (format === "zpl") return respond(labelZpl(labels, sheet, symbol, dpi), 200, ZPL, headers);
  const bytes = await labelPdf(labels, sheet, symbol, skip, name);
  return new Response(paced(bytes), { headers: { "Content-Type": PDF, ...headers } });
}

const tooSmallProblem = ({ name }: Sheet, symbol: Symbology, record: string): Problem =>
  parameterProblem(
    "sheet",
    symbol === "qr"
      ? `${name} is too small for a readable QR code of ${record}. Use larger labels.`
      : `${name} is too small for a readable barcode of ${record}. Use larger labels, or symbol=qr.`,
  );

const SCAN_RESULT = Type.Object({
  segment: TEXT,
  id: TEXT,
  name: TEXT,
  by: Type.Enum(["id", "barcode"]),
  where: Type.String({ description: "As in a search." }),
  unique_path: Type.Optional(
    Type.String({ description: "Names of enclosing locations, equipment and places." }),
  ),
});

const SCAN_RESULTS = Type.Object(
  { code: TEXT, total: COUNT, results: Type.Array(SCAN_RESULT) },
  { $id: "Scanned" },
);

/** Looks up the codes of labels and barcodes. */
export const scanOperation = () =>
  operation("GET /api/v2/scan/", {
    access: "anyone",
    summary: "Look up a scanned code",
    description:
      "Returns the records with this barcode. If there are none, returns the record with this id, with an id that begins " +
      "with at least 8 of these digits (hyphens are optional), or named by the URL on a label.",
    query: Type.Object({
      code: Type.String({
        maxLength: 1000,
        pattern: NOT_BLANK,
        description: "The scanned text.",
        examples: ["LO0000001"],
      }),
    }),
    returns: SCAN_RESULTS,
    run({ query: { code } }, { actor, store }: Call) {
      const found = scan(store.reader, RESOURCES, code, actor);
      const results = found.map(({ resource, rid, id, name, by }) => {
        const places = placeFields(resource);
        const own = "unique_path" in resource.fields ? ["unique_path"] : [];
        const [shown] = store.reader.values(resource, [...places, ...own], actor, [rid]);
        const path = shown.unique_path ? { unique_path: String(shown.unique_path) } : {};
        return Object.assign(
          { segment: resource.segment, id, name, by, where: formatPlace(places, shown) },
          path,
        );
      });
      return respondJson({ code: code.trim(), total: results.length, results });
    },
  });
