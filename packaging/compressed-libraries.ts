import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { BunPlugin } from "bun";
import { leaveOutUnused } from "./unused-code.ts";

/** Packages that the program imports dynamically, by the names in its imports. */
export const PACKAGES = [
  "bullmq",
  "hucre/csv",
  "hucre/xlsx",
  "ioredis",
  "jose",
  "ldapts",
  "nodemailer",
  "oauth4webapi",
  "pdfkit",
  "xmlbuilder2",
];

/**
 * Compresses packages that are loaded at first use: as source and bytecode they take ten times as much of the executable.
 * Each becomes one CommonJS script, which its module unpacks and runs. Call it before the build: bundlers do not nest.
 */
export async function compressLibraries(): Promise<BunPlugin> {
  const modules = new Map<string, string>();
  for (const name of PACKAGES) modules.set(name, await packModule(name));
  const filter = new RegExp(`^(?:${PACKAGES.join("|")})$`);
  const namespace = "compressed";
  return {
    name: "compress libraries",
    setup(build) {
      build.onResolve({ filter }, ({ path, importer }) =>
        importer.includes("/node_modules/") ? undefined : { path, namespace },
      );
      build.onLoad({ filter, namespace }, ({ path }) => ({ contents: modules.get(path)!, loader: "js" }));
    },
  };
}

/** The module that stands for a package. */
async function packModule(name: string): Promise<string> {
  const packed = Bun.gzipSync(await bundle(name), { level: 9 }).toBase64();
  const library = createRequire(import.meta.url)(name) as object;
  const names = Object.keys(library).filter((each) => each !== "default");
  return `
import { createRequire } from "node:module";
import { resolve } from "node:path";
const code = new TextDecoder().decode(Bun.gunzipSync(Uint8Array.fromBase64("${packed}")));
const module = { exports: {} };
new Function("module", "exports", "require", code)(module, module.exports, createRequire(import.meta.url));
export const { ${names.join(", ")} } = module.exports;
export default module.exports.default ?? module.exports;`;
}

async function bundle(name: string): Promise<string> {
  const result = await Bun.build({
    entrypoints: [Bun.resolveSync(name, import.meta.dir)],
    target: "node",
    format: "cjs",
    minify: { whitespace: true, syntax: true, identifiers: false },
    plugins: [leaveOutUnused],
  });
  if (!result.success || result.logs.length > 0)
    throw new AggregateError(result.logs, `Bundling ${name} failed.`);
  // The bundler writes the folders of packages into what reads files beside itself: builds would differ by folder.
  return (await result.outputs[0].text()).replaceAll(resolve(import.meta.dir, ".."), "/labd");
}
