/**
 * Compiles the program to one executable: `bun run build` for this machine, `bun run build --all` for every
 * platform with checksums, `bun run build --deb` for a Debian package. Any message of the bundler
 * is a failure, and the executable is run once before the build counts.
 */
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { $ } from "bun";
import { IMPORT_WORKER } from "./src/inventory/imports/import-thread.ts";
import { buildClients } from "./packaging/clients/build-clients.ts";
import { compressAssets } from "./packaging/compressed-assets.ts";
import { compressLibraries } from "./packaging/compressed-libraries.ts";
import { buildDebianPackage } from "./packaging/debian.ts";
import { leaveOutUnused } from "./packaging/unused-code.ts";
import { buildVersion } from "./packaging/version.ts";
import { WORKER_ENTRYPOINTS } from "./src/scoring/jobs/worker-entrypoints.ts";
import { makeBundle } from "./src/web/make-bundle.ts";

const OUT = "dist";
const TARGETS = [
  "linux-x64",
  "linux-x64-baseline",
  "linux-arm64",
  "linux-x64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;

/** Scripts and styles of the pages, as a file in the executable (src/web/bundle.ts reads it). */
const PAGES = `${OUT}/pages.bundle`;
/** The clients for other languages (src/platform/clients.ts reads it). */
const CLIENTS = `${OUT}/clients.bundle`;

async function compile(outfile: string, version: string, target?: (typeof TARGETS)[number]): Promise<void> {
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
}

/** Starts the executable, sends a job through a worker, lists records, stops: exit code 0 only if all of it was right. */
async function smoke(executable: string): Promise<void> {
  const started = performance.now();
  const run = await $`./${executable} demo --once --port 0 --log off`.quiet().nothrow();
  if (run.exitCode !== 0) {
    console.error(run.stdout.toString(), run.stderr.toString());
    throw new Error(`${executable} demo --once ended with ${run.exitCode}.`);
  }
  console.log(`ran      ${executable} demo --once in ${Math.round(performance.now() - started)} ms`);
}

async function sha256(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk);
  return hasher.digest("hex");
}

async function report(path: string): Promise<void> {
  console.log(`compiled ${path} (${(statSync(path).size / 1e6).toFixed(1)} MB)`);
}

const all = process.argv.includes("--all");
mkdirSync(OUT, { recursive: true });
const version = await buildVersion();
const libraries = await compressLibraries();
// Base64 of what is compressed shrinks by a quarter.
await Bun.write(PAGES, Bun.gzipSync(JSON.stringify(await makeBundle()), { level: 9 }));
await Bun.write(CLIENTS, await buildClients(version, `${OUT}/clients`));
const own = `${OUT}/labd${process.platform === "win32" ? ".exe" : ""}`;
await compile(own, version);
await report(own);
await smoke(own);

if (process.argv.includes("--deb")) console.log(`wrote    ${await buildDebianPackage(own, OUT, version)}`);

if (all) {
  const sums: string[] = [];
  for (const target of TARGETS) {
    const name = `labd-${target}${target.startsWith("windows") ? ".exe" : ""}`;
    const path = `${OUT}/${name}`;
    rmSync(path, { force: true });
    await compile(path, version, target);
    if (!existsSync(path)) throw new Error(`${path} was not written.`);
    await report(path);
    sums.push(`${await sha256(path)}  ${name}`);
    if (target === `${process.platform}-${process.arch}`) await smoke(path);
  }
  await Bun.write(`${OUT}/SHA256SUMS`, `${sums.join("\n")}\n`);
  console.log(`wrote    ${OUT}/SHA256SUMS`);
}
