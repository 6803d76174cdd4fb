import { $ } from "bun";
import manifest from "../package.json";

/**
 * Version of a build: `0.2.0` for the commit tagged v0.2.0, else `0.2.0+N.gCOMMIT`, where N counts the commits since that
 * number entered package.json, with `.dirty` appended for uncommitted changes. Outside a checkout: `0.2.0+source`.
 */
export async function buildVersion(): Promise<string> {
  const git = async (...words: string[]): Promise<string> =>
    (await $`git ${words}`.quiet().nothrow().text()).trim();
  const commit = await git("rev-parse", "--short=8", "HEAD");
  if (commit === "") return `${manifest.version}+source`;
  const dirty = (await git("status", "--porcelain")) === "" ? "" : ".dirty";
  const tags = (await git("tag", "--points-at", "HEAD")).split("\n");
  if (dirty === "" && tags.includes(`v${manifest.version}`)) return manifest.version;
  const set = await git(
    "log",
    "-1",
    "--format=%H",
    `-S"version": "${manifest.version}"`,
    "--",
    "package.json",
  );
  const count = await git("rev-list", "--count", set === "" ? "HEAD" : `${set}..HEAD`);
  return `${manifest.version}+${count}.g${commit}${dirty}`;
}
