/**
 * The npm package: the sources in `npm/` as one module with openapi-fetch in it, their declarations, record types from the
 * description of the API, and the types of openapi-typescript for all operations.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTypes, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import type { OpenApi } from "../../src/platform/openapi.ts";
import type { ZipEntry } from "../../src/platform/zip-file.ts";
import { camelCase } from "../../src/platform/words.ts";
import {
  type ApiModel,
  type Field,
  type FieldType,
  listFiles,
  type RecordType,
  RELEASED,
  shownFields,
  toEntry,
} from "./api-model.ts";
import { tarGzip } from "./tar.ts";

const SOURCES = join(import.meta.dir, "npm");
const MODULES = join(import.meta.dir, "../../node_modules");

/** Packages whose code or types are in the package, with their licences. */
const VENDORED = ["openapi-fetch", "openapi-typescript-helpers"];

/** @param folder where the sources may be written @param documents parts of the OpenAPI document by name */
export async function makeNpmPackage(
  model: ApiModel,
  documents: Readonly<Record<string, OpenApi>>,
  folder: string,
): Promise<ZipEntry> {
  const { version } = model;
  const sources = [...listFiles(SOURCES), toEntry("generated.ts", generatedModule(model))];
  const types = await Promise.all(
    Object.entries(documents).map(async ([part, document]) =>
      toEntry(`${part}.d.ts`, astToString(await openapiTypes(document as unknown as OpenAPI3))),
    ),
  );
  const entries = [
    toEntry("package.json", `${JSON.stringify(manifest(version), null, 2)}\n`),
    toEntry(
      "README.md",
      "# labd\n\nClient of a labd server, for this version of it. `/help/clients` of the server has examples.\n",
    ),
    toEntry("index.js", await bundle([...sources, ...types], folder)),
    ...sources.map(({ name, bytes }) =>
      toEntry(name.replace(/\.ts$/, ".d.ts"), declaration(name, bytes.toString())),
    ),
    ...types,
    ...VENDORED.flatMap(vendored),
  ]
    .map(({ name, bytes }) => ({ name: `package/${name}`, bytes }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { name: `labd-${version}.tgz`, bytes: tarGzip(entries, RELEASED) };
}

const manifest = (version: string) => ({
  name: "labd",
  version,
  description:
    "Client of a labd server: conservation of motifs in proteins, and the inventory of a laboratory",
  license: "Apache-2.0",
  type: "module",
  exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
  types: "./index.d.ts",
  sideEffects: false,
  engines: { node: ">=20" },
});

async function bundle(sources: readonly ZipEntry[], folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of sources) writeFileSync(join(folder, name), bytes);
  const result = await Bun.build({
    entrypoints: [join(folder, "index.ts")],
    target: "browser",
    format: "esm",
  });
  if (!result.success || result.logs.length > 0)
    throw new AggregateError(result.logs, "The npm package cannot be bundled.");
  // Comments of the bundler have the path of each source.
  return (await result.outputs[0].text()).replaceAll(/^\/\/ .*\n/gm, "");
}

/** The declaration of a module, whose imports have the names of the package's files. */
function declaration(fileName: string, source: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
    fileName,
    reportDiagnostics: true,
    compilerOptions: { isolatedDeclarations: true, stripInternal: false, target: ts.ScriptTarget.ES2022 },
  });
  const [problem] = diagnostics;
  if (problem) throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, "\n")}`);
  return outputText
    .replaceAll(/from "(\.\/[\w-]+)(\.d)?\.ts"/g, 'from "$1.js"')
    .replaceAll(/from "(openapi-fetch)"/g, 'from "./vendor/$1.js"');
}

/** The declarations and the licence of a package. */
function vendored(name: string): ZipEntry[] {
  const types = readFileSync(join(MODULES, name, "dist/index.d.mts"), "utf8");
  return [
    toEntry(
      `vendor/${name}.d.ts`,
      types.replace(/from 'openapi-typescript-helpers'/, "from './openapi-typescript-helpers.js'"),
    ),
    { name: `vendor/${name}.LICENSE`, bytes: readFileSync(join(MODULES, name, "LICENSE")) },
  ];
}

const TYPES: Readonly<Record<FieldType, string>> = {
  text: "string",
  number: "number | null",
  integer: "number | null",
  boolean: "boolean",
  date: "string | null",
  time: "string | null",
  reference: "string | null",
  object: "unknown",
};
const WRITTEN: Readonly<Record<FieldType, string>> = {
  ...TYPES,
  reference: "string | { id: string } | null",
};

/** `a piece of equipment` becomes `PieceOfEquipment`. */
const typeName = ({ one }: RecordType): string => {
  const name = camelCase(one.replace(/^an? /, ""));
  return `${name[0].toUpperCase()}${name.slice(1)}`;
};
const property = (name: string, description: string, type: string, isRequired: boolean): string =>
  `  /** ${description.replaceAll("*/", "* /").replaceAll(/\s+/g, " ")} */\n  ${name}${isRequired ? "" : "?"}: ${type};\n`;
const choiceOr = ({ choices, type }: Field, types: Readonly<Record<FieldType, string>>): string =>
  choices.length > 0 ? choices.map((one) => JSON.stringify(one)).join(" | ") : types[type];

function recordTypes(type: RecordType): string {
  const name = typeName(type);
  const names = type.fields.filter(({ isShown, target }) => isShown && target !== undefined);
  const shown = [
    ...type.fields.map((field) =>
      property(field.name, field.description, choiceOr(field, TYPES), field.isShown),
    ),
    ...names.map((field) =>
      property(`${field.name}__${field.target}`, `Name of ${field.name}.`, "string | null", true),
    ),
  ];
  const written = type.fields
    .filter(({ isWritable }) => isWritable)
    .map((field) => property(field.name, field.description, choiceOr(field, WRITTEN), field.isRequired));
  const filters = [
    ...type.fields
      .filter(({ isFilter }) => isFilter)
      .map((field) =>
        property(
          field.name,
          field.description,
          field.choices.length > 0 ? `${choiceOr(field, TYPES)} | readonly string[]` : "Value",
          false,
        ),
      ),
    ...type.parameters
      .filter(({ name }) => name !== "fields")
      .map(({ name, description }) => property(name, description, "Value", false)),
  ];
  return `
/** ${type.description} With \`fields\`, a record has these fields only. */
export interface ${name} {
${shown.join("")}  /** Fields across references, and annotations. */
  [field: \`\${string}__\${string}\`]: unknown;
}

/** Values of a new record. */
export interface New${name} {
${written.join("")}}

/** Filters of the list, and its other parameters. */
export interface ${name}Filters {
${filters.join("")}  /** Filters with lookups, such as \`name__icontains\`. */
  [lookup: \`\${string}__\${string}\`]: Value | undefined;
}
`;
}

function generatedModule({ version, recordTypes: types, columns }: ApiModel): string {
  const tables = Object.values(columns);
  const all = new Map(tables.flat().map((column) => [column.name, column]));
  const kind = (type: string): string => (type === "count" ? "number" : type);
  const matches = [...all.values()].map(({ name, type, description, unit }) =>
    property(
      name,
      description + (unit ? ` In ${unit}.` : ""),
      `${kind(type) === "text" ? "string" : kind(type)} | null`,
      tables.every((table) => table.some((column) => column.name === name)),
    ),
  );
  const lists = types.map((type) => {
    const name = typeName(type);
    return {
      name: type.name,
      type: `Records<${name}, New${name}, ${name}Filters>`,
      info: { path: type.path, shown: shownFields(type), isRepeatable: type.isRepeatable },
      description: type.description,
    };
  });
  return `import { Records } from "./records.ts";
import type { Sender, Value } from "./send.ts";

/** Version of the server and of this client. */
export const VERSION: string = ${JSON.stringify(version)};
${types.map(recordTypes).join("")}
/** A match; \`null\` where there is no value. Columns depend on the table. */
export interface Match {
${matches.join("")}}

/** @internal */
export const MATCH_TYPES: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries([...all.values()].map(({ name, type }) => [name, kind(type)])))};

/** The lists of records. */
export interface RecordTypes {
${lists.map(({ name, description, type }) => property(name, description, type, true)).join("")}}

/** @internal */
export const openRecordTypes = (sender: Sender): RecordTypes => ({
${lists.map(({ name, info }) => `  ${name}: new Records(sender, ${JSON.stringify(info)}),\n`).join("")}});
`;
}
