import { expect, test } from "bun:test";
import { MODULE } from "../../src/kernel/module.ts";

const SOURCE = new URL("../../src/kernel/assembly/", import.meta.url);
const TARGET = new URL("../../src/kernel/module.ts", import.meta.url);

/** Compiles the module from its source. */
async function compile(): Promise<string> {
  const { default: asc } = await import("assemblyscript/asc");
  const written = new Map<string, string | Uint8Array>();
  const { error, stderr } = await asc.main(
    ["index.ts", "-O3", "--runtime", "stub", "--enable", "simd", "--noAssert", "--outFile", "kernel.wasm"],
    {
      readFile: (name: string) =>
        Bun.file(new URL(name, SOURCE))
          .text()
          .catch(() => null),
      writeFile: (name: string, contents: string | Uint8Array) => void written.set(name, contents),
      listFiles: () => [],
    },
  );
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
  return (written.get("kernel.wasm") as Uint8Array).toBase64();
}

/** `UPDATE_KERNEL=1 bun test test/kernel/module.test.ts` writes the module. */
test("module.ts equals the compiled source", async () => {
  const fresh = await compile();
  if (Bun.env.UPDATE_KERNEL === "1") {
    const lines = fresh.match(/.{1,100}/g)!.map((line) => `  "${line}"`);
    const text = `/** The kernels of assembly/, compiled: made by test/kernel/module.test.ts, never by hand. */\nexport const MODULE =\n${lines.join(" +\n")};\n`;
    await Bun.write(TARGET, text);
  } else {
    expect(MODULE).toBe(fresh);
  }
}, 300_000);
