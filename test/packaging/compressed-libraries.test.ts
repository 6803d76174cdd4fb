import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compressLibraries, PACKAGES } from "../../packaging/compressed-libraries.ts";

const listKinds = (module: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(module)
      .filter(([name]) => name !== "default")
      .map(([name, value]) => [name, typeof value]),
  );

test("compressed packages run and have the exports of the originals", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-libraries-"));
  const entry = join(directory, "entry.js");
  const imports = PACKAGES.map((name) => `kinds["${name}"] = listKinds(await import("${name}"));`);
  const used = `
const { createTransport } = await import("nodemailer");
const { create } = await import("xmlbuilder2");
const transport = createTransport({ host: "smtp.example" });
const xml = create().ele("a").txt("&").end();
console.log(JSON.stringify({ kinds, host: transport.options.host, xml }));
process.exit(0);`;
  writeFileSync(
    entry,
    `const kinds = {};\nconst listKinds = ${listKinds.toString()};\n${imports.join("\n")}\n${used}`,
  );
  const plugins = [await compressLibraries()];
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "bun",
    splitting: true,
    outdir: directory,
    naming: "[name]-built.[ext]",
    plugins,
  });
  const program = Bun.spawn([process.execPath, outputs[0].path], { stdout: "pipe", stderr: "inherit" });
  const { kinds, host, xml } = JSON.parse(await new Response(program.stdout).text());
  expect([host, xml]).toEqual(["smtp.example", '<?xml version="1.0"?><a>&amp;</a>']);
  for (const name of PACKAGES)
    expect([name, listKinds(await import(name))]).toEqual([name, expect.objectContaining(kinds[name])]);
  expect(kinds.bullmq).toMatchObject({ Queue: "function", Worker: "function" });
  rmSync(directory, { recursive: true });
}, 60_000);
