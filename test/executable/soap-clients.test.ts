import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { E7, labd, scratch, serve, type Server } from "./labd.ts";

/**
 * SOAP toolkits of other people have the whole conversation with the executable, each in its own process. A toolkit
 * that is not installed is skipped and named; where none is, the test fails.
 */

const CLIENTS = join(import.meta.dir, "clients");
const ROOT = join(import.meta.dir, "../..");
const DEBIAN_PYTHON = "/usr/bin/python3";

const succeeds = (...command: string[]): boolean => {
  try {
    return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  } catch {
    return false;
  }
};

interface Toolkit {
  name: string;
  isThere: boolean;
  /** Command to which sequence and unknown job are added. May prepare what it needs in a directory. */
  command(wsdl: string, directory: string): Promise<string[]>;
}

const NODE = Bun.which("node");
const PERL = Bun.which("perl") ?? "perl";
const PYTHON = [DEBIAN_PYTHON, Bun.which("python3") ?? DEBIAN_PYTHON].find((python) =>
  succeeds(python, "-c", "import zeep"),
);

const TOOLKITS: Toolkit[] = [
  {
    name: "zeep (Python)",
    isThere: PYTHON !== undefined,
    command: async (wsdl) => [PYTHON!, join(CLIENTS, "zeep-client.py"), wsdl],
  },
  {
    name: "npm soap (Node)",
    isThere: NODE !== null && existsSync(join(ROOT, "node_modules/soap")),
    command: async (wsdl) => [NODE!, join(CLIENTS, "npm-soap.cjs"), wsdl],
  },
  {
    name: "SOAP::Lite (Perl)",
    isThere: succeeds(PERL, "-MSOAP::Lite", "-e", "1"),
    command: async (wsdl) => [PERL, join(CLIENTS, "soap-lite.pl"), wsdl],
  },
  {
    name: "XML::Compile (Perl)",
    isThere: succeeds(PERL, "-MXML::Compile::Schema", "-MHTTP::Tiny", "-e", "1"),
    command: async (wsdl) => [PERL, join(CLIENTS, "xml-compile.pl"), wsdl],
  },
  {
    name: "gSOAP (C)",
    isThere:
      ["wsdl2h", "soapcpp2", "gcc"].every((program) => Bun.which(program) !== null) &&
      existsSync("/usr/include/stdsoap2.h"),
    command: compileGsoap,
  },
];

/** Code from the WSDL as the service hands it out, compiled with our calls. */
async function compileGsoap(wsdl: string, directory: string): Promise<string[]> {
  const folder = join(directory, "gsoap");
  mkdirSync(folder);
  writeFileSync(join(folder, "service.wsdl"), await (await fetch(wsdl)).text());
  for (const words of [
    ["wsdl2h", "-c", "-s", "-o", "service.h", "service.wsdl"],
    ["soapcpp2", "-c", "-CL", "-x", "-w", "service.h"],
    [
      "gcc",
      "-O0",
      "-w",
      "-I.",
      "-o",
      "client",
      join(CLIENTS, "gsoap.c"),
      "soapC.c",
      "soapClient.c",
      "-lgsoap",
    ],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(words, { cwd: folder, stdout: "ignore", stderr: "pipe" });
    if (exitCode !== 0) throw new Error(`${words[0]} ended with ${exitCode}: ${stderr.toString()}`);
  }
  return [join(folder, "client"), wsdl.replace(/\?.*/, "")];
}

const place = scratch();
let server: Server;
beforeAll(async () => {
  await labd(["corpus", "add", "--sample"], { env: { LABD_DATA_DIR: place.directory } });
  server = await serve(place.directory, ["--workers", "1", "--log", "problems"]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const EXPECTED = [
  "status finished",
  `query A & <B> ${E7.length} discontinuous`,
  "pattern L.C.E 1",
  "match 22 26 LYCYE",
  "pattern W{3} 0",
  /^pattern \S+ 0$/,
  "fault Client There is no job with this identifier.",
  "refused Client",
];

for (const { name, isThere, command } of TOOLKITS) {
  test.skipIf(!isThere)(
    `${name} runs a job, reads its prediction and its faults${isThere ? "" : " (SKIPPED: not installed here)"}`,
    async () => {
      const words = await command(`${server.url}/soap/ConservationScorer?wsdl`, place.directory);
      const run = Bun.spawn([...words, E7, "no-such-job"], { stdout: "pipe", stderr: "pipe", cwd: ROOT });
      const [stdout, stderr, code] = await Promise.all([
        Bun.readableStreamToText(run.stdout),
        Bun.readableStreamToText(run.stderr),
        run.exited,
      ]);
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      const lines = stdout.trim().split("\n");
      for (const [i, line] of EXPECTED.entries()) {
        if (typeof line === "string") expect(lines[i]).toBe(line);
        else expect(lines[i]).toMatch(line);
      }
      expect(lines).toHaveLength(EXPECTED.length);
    },
    300_000,
  );
}

test("at least one toolkit is installed", () => {
  expect(TOOLKITS.filter(({ isThere }) => isThere).map(({ name }) => name)).not.toEqual([]);
});
