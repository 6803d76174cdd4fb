/**
 * `bun run release` makes the files of a release in dist/release: executables, Debian packages, images, clients, bill of
 * materials, checksums and, with a key, signatures. `--check` makes the release of the last commit twice, in two folders,
 * and compares: both must be equal byte for byte.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { prepareBuild, smoke } from "../build.ts";
import manifest from "../package.json";
import { fileHash } from "../src/platform/durable-file.ts";
import { buildDebianPackage } from "./debian.ts";
import { buildImage, imageTag } from "./image.ts";
import { billOfMaterials } from "./sbom.ts";
import { buildVersion } from "./version.ts";

const OUT = "dist/release";
const SUMS = "SHA256SUMS";
const TARGETS = [
  "linux-x64",
  "linux-x64-baseline",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;
/** Targets for packages and images. */
const ARCHITECTURES = { amd64: "linux-x64", arm64: "linux-arm64" } as const;

const nameOf = (target: string): string => `labd-${target}${target.startsWith("windows") ? ".exe" : ""}`;

async function makeRelease(): Promise<void> {
  // Files of packages have the modes that they would have here.
  process.umask(0o022);
  process.env.SOURCE_DATE_EPOCH ??= (await $`git log -1 --format=%ct`.text()).trim();
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const version = await buildVersion();
  const compile = await prepareBuild(version);
  const own = "dist/labd";
  await compile(own);
  await smoke(own);
  for (const target of TARGETS) await compile(join(OUT, nameOf(target)), target);
  await $`${own} clients ${OUT}`.quiet();
  for (const [architecture, target] of Object.entries(ARCHITECTURES) as ["amd64" | "arm64", string][]) {
    const executable = join(OUT, nameOf(target));
    if (has("dpkg-deb"))
      say(`wrote    ${await buildDebianPackage(own, executable, architecture, OUT, version)}`);
    if (has("buildah")) say(`wrote    ${await buildImage(executable, architecture, OUT, version)}`);
  }
  for (const name of ["labd.container", "compose.yaml"]) {
    const text = readFileSync(join("packaging", name), "utf8");
    writeFileSync(join(OUT, name), text.replaceAll("labd:latest", `labd:${imageTag(version)}`));
  }
  const date = new Date(Number(process.env.SOURCE_DATE_EPOCH) * 1000).toISOString();
  writeFileSync(join(OUT, "labd.cdx.json"), billOfMaterials(version, date));
  const sums = readdirSync(OUT)
    .toSorted()
    .map((name) => `${fileHash(join(OUT, name))}  ${name}\n`);
  writeFileSync(join(OUT, SUMS), sums.join(""));
  say(`wrote    ${join(OUT, SUMS)}`);
  await signFiles(version);
}

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** True if a program is there, without which a part of the release is left out. */
function has(program: string): boolean {
  const isThere = Bun.which(program) !== null;
  if (!isThere)
    say(`left out for lack of ${program}: apt-get install ${program.replace("dpkg-deb", "dpkg")}`);
  return isThere;
}

/** Signs executables and checksums with the secret key that MINISIGN_KEY names; its password is read from the terminal. */
async function signFiles(version: string): Promise<void> {
  const key = process.env.MINISIGN_KEY;
  if (key === undefined) {
    say("unsigned MINISIGN_KEY does not name a secret key of minisign");
    return;
  }
  const { releaseKey } = manifest;
  for (const name of [...TARGETS.map(nameOf), SUMS]) {
    const path = join(OUT, name);
    await $`minisign -S -s ${key} -m ${path} -t ${`labd ${version} ${name}`}`.quiet();
    if (releaseKey !== "") await $`minisign -V -q -P ${releaseKey} -m ${path}`;
    say(`signed   ${path}`);
  }
}

/** @throws Error that names the files that differ */
async function checkRelease(): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), "labd-release-"));
  const folders = ["first", "a/second/folder"].map((name) => join(place, name));
  for (const folder of folders) {
    await $`git clone --quiet . ${folder}`;
    await $`${process.execPath} install --frozen-lockfile --silent`.cwd(folder);
    await $`${process.execPath} run packaging/release.ts`
      .cwd(folder)
      .env({ ...process.env, MINISIGN_KEY: undefined });
  }
  const [first, second] = folders.map((folder) => readFileSync(join(folder, OUT, SUMS), "utf8").split("\n"));
  const differing = first.filter((line) => !second.includes(line));
  if (differing.length > 0 || first.length !== second.length)
    throw new Error(`Two releases of a commit differ, in ${place}:\n${differing.join("\n")}`);
  say(`${first.join("\n")}equal in two folders`);
  rmSync(place, { recursive: true });
}

await (process.argv.includes("--check") ? checkRelease() : makeRelease());
