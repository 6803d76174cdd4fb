/**
 * `bun run build` compiles the program to one executable for this machine; packaging/release.ts makes those of other
 * platforms. Any message of the bundler is a failure, and the executable is run once before the build counts.
 */
import { mkdirSync, statSync } from "node:fs";
import { $, type BunPlugin } from "bun";
import { IMPORT_WORKER } from "./src/inventory/imports/import-thread.ts";
import { buildClients } from "./packaging/clients/build-clients.ts";
import { compressAssets } from "./packaging/compressed-assets.ts";
import { compressLibraries } from "./packaging/compressed-libraries.ts";
import { leaveOutUnused } from "./packaging/unused-code.ts";
import { buildVersion } from "./packaging/version.ts";
import { WORKER_ENTRYPOINTS } from "./src/scoring/jobs/worker-entrypoints.ts";
import { makeBundle } from "./src/web/make-bundle.ts";

const OUT = "dist";
/** Scripts and styles of the pages, as a file in the executable (src/web/bundle.ts reads it). */
const PAGES = `${OUT}/pages.bundle`;
/** The clients for other languages (src/platform/clients.ts reads it). */
const CLIENTS = `${OUT}/clients.bundle`;

/** Makes pages, clients and compressed libraries. @returns compiles an executable, for this machine without a target */
export async function prepareBuild(
  version: string,
): Promise<(outfile: string, target?: string) => Promise<void>> {
  mkdirSync(OUT, { recursive: true });
  const libraries = await compressLibraries();
  // Base64 of what is compressed shrinks by a quarter.
  await Bun.write(PAGES, Bun.gzipSync(JSON.stringify(await makeBundle()), { level: 9 }));
  await Bun.write(CLIENTS, await buildClients(version, `${OUT}/clients`));
  return (outfile, target) => compile(outfile, version, libraries, target);
}

async function compile(
  outfile: string,
  version: string,
  libraries: BunPlugin,
  target?: string,
): Promise<void> {
  const result = await Bun.build({
    entrypoints: ["src/main.ts", ...WORKER_ENTRYPOINTS, IMPORT_WORKER, PAGES, CLIENTS],
    // Addresses of workers are relative to it (src/platform/worker-address.ts).
    root: "src",
    // Identifiers stay for stack traces, which have no source map to go by.
    minify: { whitespace: true, syntax: true, identifiers: false },
    // Dynamic imports are loaded at first use only.
    splitting: true,
    bytecode: true,
    // Without esm, bytecode reports success and the executable dies at start.
    format: "esm",
    plugins: [leaveOutUnused, compressAssets, libraries],
    define: { LABD_VERSION: JSON.stringify(version) },
    compile: {
      outfile,
      ...(target ? { target: `bun-${target}` as Bun.Build.CompileTarget } : {}),
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
  if (!result.success || result.logs.length > 0) {
    for (const log of result.logs) console.error(log);
    throw new Error(`${outfile}: the bundler complained; every message counts as a failure.`);
  }
  console.log(`compiled ${outfile} (${(statSync(outfile).size / 1e6).toFixed(1)} MB)`);
}

/** Starts the executable, sends a job through a worker, lists records, stops: exit code 0 only if all of it was right. */
export async function smoke(executable: string): Promise<void> {
  const started = performance.now();
  const run = await $`./${executable} demo --once --port 0 --log off`.quiet().nothrow();
  if (run.exitCode !== 0) {
    console.error(run.stdout.toString(), run.stderr.toString());
    throw new Error(`${executable} demo --once ended with ${run.exitCode}.`);
  }
  console.log(`ran      ${executable} demo --once in ${Math.round(performance.now() - started)} ms`);
}

if (import.meta.main) {
  const own = `${OUT}/labd${process.platform === "win32" ? ".exe" : ""}`;
  const compileFor = await prepareBuild(await buildVersion());
  await compileFor(own);
  await smoke(own);
}
