import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { element, ended, LABD, labd, scratch, serve } from "./labd.ts";

/** The README's commands, run as they stand there, with only the address and the directory changed. */

const README = readFileSync(join(import.meta.dir, "../../README.md"), "utf8");
const BLOCKS = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]);
const blockWith = (text: string): string => BLOCKS.find((block) => block.includes(text))!;

async function shell(script: string, cwd: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const run = Bun.spawn(["bash", "-euc", script], {
    cwd,
    env: { PATH: `${dirname(LABD)}:${process.env.PATH}` },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ]);
  return { code, stdout, stderr };
}

test.skipIf(!Bun.which("curl"))(
  "the example of the README for each service works (SKIPPED without curl)",
  async () => {
    using place = scratch();
    await labd(["demo", "--once", "--port", "0", "--data-dir", place.directory]);
    await using server = await serve(place.directory);
    const at = (block: string): string => block.replaceAll("http://127.0.0.1:8480", server.url);

    const soap = await shell(at(blockWith("<RunJob")), place.directory);
    const job = element(soap.stdout, "JobIdentifier");
    expect(soap).toMatchObject({ code: 0 });
    expect(await ended(server.url, job!)).toBe("finished");

    const rest = await shell(at(blockWith("query_expression")), place.directory);
    const page = JSON.parse(rest.stdout) as { total: number; results: { label: string }[] };
    expect(page.total).toBeGreaterThan(20);
    expect(page.results).toHaveLength(5);
  },
);
