import type { BunPlugin } from "bun";

interface Replacement {
  /** Path of the module. */
  module: RegExp;
  why: string;
  replace(source: string): string;
}

/** Parts of libraries that the program never runs, 2 MB of source and three times as much bytecode. */
const REPLACEMENTS: readonly Replacement[] = [
  {
    module: /\/bwip-js\/dist\/bwipp\.mjs$/,
    why: "Labels have two of its hundred symbologies.",
    replace: (source) =>
      source.replace(
        /function bwipp_lookup\(symbol\) \{[\s\S]*?\n\}\n/,
        'function bwipp_lookup(symbol) { return symbol === "qrcode" ? bwipp_qrcode : bwipp_code128; }\n',
      ),
  },
  {
    module: /\/bwip-js\/dist\/bwip-js-gen\.mjs$/,
    why: "The text below a bar code is set by the labels.",
    replace: (source) => source.replaceAll(/^FontLib\.loadFont\("OCR-.*$/gm, ""),
  },
  {
    module: /\/brotli\/decompress\.js$/,
    why: "It brings its dictionary to unpack WOFF2; the font of the labels is TrueType.",
    replace: () => 'module.exports = (bytes) => require("node:zlib").brotliDecompressSync(bytes);\n',
  },
  {
    module: /\/bullmq\/dist\/esm\/postgres\/sql-scripts\.js$/,
    why: "The farm's queue is in Redis.",
    replace: () => "export const SQL_COMMANDS = {}, SQL_MIGRATIONS = {};\n",
  },
  {
    module: /\/bullmq\/dist\/esm\/postgres\/postgres-queue-backend\.js$/,
    why: "The same.",
    replace: () => "export class PostgresQueueBackend {}\n",
  },
  {
    module: /\/cron-parser\/dist\/index\.js$/,
    why: "No job of the farm is repeated at set times.",
    replace: () => "exports.CronExpressionParser = class {};\n",
  },
  {
    module: /\/file-type\/source\/index\.js$/,
    why: "No route takes files by Elysia's schema for files.",
    replace: () => "export const fileTypeFromBlob = () => Promise.resolve(undefined);\n",
  },
  {
    module: /\/zxing_reader\.wasm$/,
    why: "Only browsers read bar codes; their copy is among the scripts of the pages.",
    replace: () => 'export default "";\n',
  },
  {
    module: /\/3dmol\/build\/3Dmol\.es6-min\.js$/,
    why: "Only browsers draw; their copy is among the scripts of the pages.",
    replace: () => "export const createViewer = () => null;\n",
  },
  {
    module: /\/@scalar\/themes\/dist\/index\.js$/,
    why: "The pages of the reference are ours; of the plugin only the OpenAPI document is used.",
    replace: () => 'export const elysiajsTheme = "";\n',
  },
  {
    module: /\/xmlbuilder2\/lib\/readers\/YAMLReader\.js$/,
    why: "It brings a YAML parser; the WSDL is built, not read.",
    replace: () => "exports.YAMLReader = class {};\n",
  },
];

/** Leaves out of the executable what it never runs. A library that changed so that nothing is replaced fails the build. */
export const leaveOutUnused: BunPlugin = {
  name: "leave out unused code",
  setup(build) {
    for (const { module, replace } of REPLACEMENTS)
      build.onLoad({ filter: module }, async ({ path }) => {
        const source = await Bun.file(path).text();
        const contents = replace(source);
        if (contents === source) throw new Error(`${path}: the code to leave out has changed.`);
        return { contents, loader: "js" };
      });
  },
};
