import { expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** docs/library.md is run as it stands there, from a folder elsewhere that depends on the package; `DOCS=write` writes what it prints. */

const ROOT = join(import.meta.dir, "..");
const PAGE = join(ROOT, "docs/library.md");

test("the example of docs/library.md prints the documented output", () => {
  const page = readFileSync(PAGE, "utf8");
  const example = /```ts\n(.*?)```/s.exec(page)![1];
  const printed = /It prints:\n\n```\n(.*?)```/s.exec(page)![1];
  expect(example.split("\n").length).toBeLessThanOrEqual(41);
  const folder = mkdtempSync(join(tmpdir(), "labd-library-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    // As `bun link labd` leaves it.
    symlinkSync(ROOT, join(folder, "node_modules/labd"), "junction");
    writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies: { labd: "link:labd" } }));
    copyFileSync(join(ROOT, "src/sample/proteins.fasta"), join(folder, "proteins.fasta"));
    writeFileSync(join(folder, "example.ts"), example);
    const run = Bun.spawnSync([process.execPath, "example.ts"], { cwd: folder });
    expect(run.stderr.toString()).toBe("");
    const said = run.stdout.toString();
    if (process.env.DOCS === "write")
      writeFileSync(
        PAGE,
        page.replace(printed, () => said),
      );
    else expect(said).toBe(printed);
    // Modules that are not exported cannot be imported.
    writeFileSync(join(folder, "inside.ts"), 'import "labd/src/motif/tree.ts";');
    expect(Bun.spawnSync([process.execPath, "inside.ts"], { cwd: folder }).exitCode).not.toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
