/** The R package: the sources in `r/`, record types and columns from the description of the API, and help pages. */
import { join } from "node:path";
import type { ZipEntry } from "../../src/platform/zip-file.ts";
import {
  type ApiModel,
  type FieldType,
  listFiles,
  type RecordType,
  RELEASED,
  shownFields,
  toEntry,
} from "./api-model.ts";
import { makeHelpPages, listExports } from "./rd.ts";
import { tarGzip } from "./tar.ts";

const SOURCES = join(import.meta.dir, "r");

/** R allows numbers only: `0.2.0+12.g1a2b3c4d` becomes `0.2.0.12`. */
export const toRVersion = (version: string): string => /^[\d.]+(\+\d+)?/.exec(version)![0].replace("+", ".");

export function makeRPackage(model: ApiModel): ZipEntry {
  const version = toRVersion(model.version);
  const sources = [...listFiles(SOURCES), toEntry("R/generated.R", generatedSource(model))];
  const texts = sources.filter(({ name }) => name.endsWith(".R")).map(({ bytes }) => bytes.toString());
  const entries = [
    ...sources,
    toEntry("DESCRIPTION", description(version)),
    toEntry("NAMESPACE", listExports(texts)),
    ...makeHelpPages(texts).map(({ name, text }) => toEntry(`man/${name}.Rd`, text)),
  ]
    .map(({ name, bytes }) => ({ name: `labd/${name}`, bytes }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { name: `labd_${version}.tar.gz`, bytes: tarGzip(entries, RELEASED) };
}

const description = (version: string): string => `Package: labd
Version: ${version}
Title: Client of a Labd Server
Description: Calls a labd server of the same version: conservation of motifs in proteins, and the inventory of a
    laboratory.
Authors@R: person("The labd authors", role = c("aut", "cre"), email = "labd@lab.example")
Author: The labd authors
Maintainer: The labd authors <labd@lab.example>
License: Apache License (>= 2)
Encoding: UTF-8
Depends: R (>= 4.0)
Imports: httr2 (>= 0.2.0), jsonlite, stats, utils
NeedsCompilation: no
`;

const KINDS: Readonly<Record<FieldType, string>> = {
  text: "text",
  number: "number",
  integer: "whole number",
  boolean: "TRUE or FALSE",
  date: "Date",
  time: "POSIXct (UTC)",
  reference: "id or name of a record",
  object: "list",
};

const text = (value: string): string => JSON.stringify(value);
const names = (all: readonly string[]): string => `c(${all.map(text).join(", ")})`;
const line = (value: string): string => value.replaceAll(/\s+/g, " ").trim();

/** The function of a list, with the fields on its help page. */
function listFunction({ name, description, fields, parameters }: RecordType): string {
  const rows = fields.map(({ name, type, description, choices, isWritable, isRequired }) => {
    const kind = choices.length > 0 ? `one of ${choices.join(", ")}` : KINDS[type];
    const use = isRequired ? ", required to create" : isWritable ? "" : ", read-only";
    return `#' @field ${name} (${kind}${use}) ${line(description)}`;
  });
  const further = parameters
    .filter(({ name }) => name !== "fields")
    .map(({ name, description }) => `#' @field ${name} (parameter) ${line(description)}`);
  return `
#' Read ${name}
#'
#' ${line(description)} Filters are as of \`labd_list\`.
#'
#' @param lab A connection of \`labd_connect\`.
#' @param ... Filters by field, with lookups such as \`name__icontains\`, and the parameters below.
#' @param limit At most so many records.
#' @param fields Columns, also across references and of annotations.
#' @return A data frame with one row for each record.
${[...rows, ...further].join("\n")}
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' labd_${name}(lab, limit = 10)
#' @export
labd_${name} <- function(lab, ..., limit = Inf, fields = NULL) {
  labd_list(lab, ${text(name)}, ..., limit = limit, fields = fields)
}
`;
}

function generatedSource({ version, recordTypes, columns }: ApiModel): string {
  const lists = recordTypes.map((type) => {
    const shown = shownFields(type);
    const known = new Map<string, FieldType>(type.fields.map((field) => [field.name, field.type]));
    const types = [...new Set([...known.keys(), ...shown])].map(
      (name) => `${name} = ${text(known.get(name) ?? "text")}`,
    );
    const members = [
      `path = ${text(type.path)}`,
      `shown = ${names(shown)}`,
      `types = list(${types.join(", ")})`,
      ...(type.isRepeatable ? ["repeatable = TRUE"] : []),
    ];
    return `  ${type.name} = list(${members.join(", ")})`;
  });
  const tables = Object.entries(columns).map(([name, listed]) => {
    const rows = listed.map(({ name, type, description, unit }) => {
      const kind = type === "count" ? "integer" : type;
      return `    \`${name}\` = list(type = ${text(kind)}, description = ${text(description + (unit ? ` In ${unit}.` : ""))})`;
    });
    return `  ${name} = list(\n${rows.join(",\n")}\n  )`;
  });
  return `# Record types and columns of this version, from the description of the API.

.labd_version <- ${text(version)}

.labd_lists <- list(
${lists.join(",\n")}
)

.labd_columns <- list(
${tables.join(",\n")}
)
${recordTypes.map(listFunction).join("")}`;
}
