import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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
  /** False if it hides the detail of faults, or checks the facets of values itself. */
  hasProblem?: false;
}

const NODE = Bun.which("node");
const PERL = Bun.which("perl") ?? "perl";
const PYTHON = [DEBIAN_PYTHON, Bun.which("python3") ?? DEBIAN_PYTHON].find((python) =>
  succeeds(python, "-c", "import zeep"),
);

/** Java libraries of Debian's packages libaxis-java and jaxws. */
const JARS = "/usr/share/java";
const JAXWS = "/usr/share/jaxws/lib";

const TOOLKITS: Toolkit[] = [
  {
    name: "zeep (Python)",
    isThere: PYTHON !== undefined,
    command: async (wsdl) => [PYTHON!, join(CLIENTS, "zeep-client.py"), wsdl],
  },
  {
    name: "suds (Python)",
    isThere: succeeds(DEBIAN_PYTHON, "-c", "import suds"),
    command: async (wsdl) => [DEBIAN_PYTHON, join(CLIENTS, "suds-client.py"), wsdl],
  },
  {
    name: "PySimpleSOAP (Python)",
    isThere: succeeds(DEBIAN_PYTHON, "-c", "import pysimplesoap"),
    command: async (wsdl) => [DEBIAN_PYTHON, join(CLIENTS, "pysimplesoap-client.py"), wsdl],
    hasProblem: false,
  },
  {
    name: "SoapClient (PHP)",
    isThere: succeeds("php", "-r", "exit(class_exists('SoapClient') ? 0 : 1);"),
    command: async (wsdl) => ["php", join(CLIENTS, "php-soap.php"), wsdl],
  },
  {
    name: "tclws (Tcl)",
    isThere: existsSync("/usr/share/doc/tclws") && Bun.which("tclsh") !== null,
    command: async (wsdl) => ["tclsh", join(CLIENTS, "tclws.tcl"), wsdl],
    hasProblem: false,
  },
  {
    name: "asmx (Mono)",
    isThere: ["wsdl", "mcs", "mono"].every((program) => Bun.which(program) !== null),
    command: compileMono,
  },
  {
    name: "soap4r (Ruby)",
    isThere: succeeds("ruby", "-e", 'require "soap/wsdlDriver"'),
    command: async (wsdl) => ["ruby", join(CLIENTS, "soap4r.rb"), wsdl],
    hasProblem: false,
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
    hasProblem: false,
  },
  {
    name: "SOAP::WSDL (Perl)",
    isThere: Bun.which("wsdl2perl") !== null,
    command: generatePerl,
    hasProblem: false,
  },
  {
    name: "Axis 1.4 (Java)",
    isThere: Bun.which("javac") !== null && existsSync(`${JARS}/axis.jar`),
    command: compileAxis,
  },
  {
    name: "JAX-WS (Java)",
    isThere: Bun.which("javac") !== null && Bun.which("wsimport") !== null && existsSync(JAXWS),
    command: compileJaxws,
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
  const client = join(CLIENTS, "gsoap.c");
  const folder = join(directory, "gsoap");
  mkdirSync(folder);
  writeFileSync(join(folder, "service.wsdl"), await (await fetch(wsdl)).text());
  await run(folder, ["wsdl2h", "-c", "-s", "-o", "service.h", "service.wsdl"]);
  await run(folder, ["soapcpp2", "-c", "-CL", "-x", "-w", "service.h"]);
  const sources = [client, "soapC.c", "soapClient.c"];
  await run(folder, ["gcc", "-O0", "-w", "-I.", "-o", "client", ...sources, "-lgsoap"]);
  return [join(folder, "client"), wsdl.replace(/\?.*/, "")];
}

async function generatePerl(wsdl: string, directory: string): Promise<string[]> {
  const folder = join(directory, "soap-wsdl");
  mkdirSync(folder);
  await run(folder, ["wsdl2perl", "-b", folder, wsdl]);
  return [PERL, join(CLIENTS, "soap-wsdl.pl"), folder];
}

async function compileMono(wsdl: string, directory: string): Promise<string[]> {
  const folder = join(directory, "mono");
  mkdirSync(folder);
  await run(folder, ["wsdl", "-out:Proxy.cs", wsdl]);
  const libraries = ["-r:System.Web.Services", "-r:System.Xml"];
  await run(folder, ["mcs", ...libraries, "-out:client.exe", "Proxy.cs", join(CLIENTS, "MonoClient.cs")]);
  return ["mono", join(folder, "client.exe"), wsdl.replace(/\?.*/, "")];
}

async function compileAxis(wsdl: string, directory: string): Promise<string[]> {
  const names =
    "axis axis-jaxrpc axis-saaj commons-logging commons-discovery wsdl4j javax.activation javax.mail";
  const jars = names.split(" ").map((name) => `${JARS}/${name}.jar`);
  const folder = join(directory, "axis");
  mkdirSync(folder);
  await run(folder, ["java", "-cp", jars.join(":"), "org.apache.axis.wsdl.WSDL2Java", wsdl]);
  return compileJava(folder, "AxisClient", jars, wsdl.replace(/\?.*/, ""));
}

async function compileJaxws(wsdl: string, directory: string): Promise<string[]> {
  const jars = [
    ...readdirSync(JAXWS).map((file) => join(JAXWS, file)),
    ...readdirSync(JARS)
      .filter((file) => file.includes("activation"))
      .map((file) => join(JARS, file)),
  ];
  const folder = join(directory, "jaxws");
  mkdirSync(folder);
  await run(folder, ["wsimport", "-quiet", "-Xnocompile", "-s", folder, wsdl]);
  return compileJava(folder, "JaxwsClient", jars, wsdl);
}

/** Generated classes and our calls. */
async function compileJava(folder: string, name: string, jars: string[], address: string): Promise<string[]> {
  const path = [".", ...jars].join(":");
  const sources = (readdirSync(folder, { recursive: true }) as string[]).filter((file) =>
    file.endsWith(".java"),
  );
  await run(folder, [
    "javac",
    "-nowarn",
    "-cp",
    path,
    "-d",
    folder,
    join(CLIENTS, `${name}.java`),
    ...sources,
  ]);
  return ["java", "-cp", [folder, ...jars].join(":"), name, address];
}

/** Runs a program beside this process, whose server may have to answer it. */
async function run(cwd: string, words: string[]): Promise<void> {
  const { exited, stderr } = Bun.spawn(words, { cwd, stdout: "ignore", stderr: "pipe" });
  const [code, text] = await Promise.all([exited, Bun.readableStreamToText(stderr)]);
  if (code !== 0) throw new Error(`${words[0]} ended with ${code}: ${text}`);
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
];

for (const { name, isThere, command, hasProblem = true } of TOOLKITS) {
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
      const refused = `refused Client${hasProblem ? " invalid_request" : ""}`;
      const expected = [...EXPECTED, refused];
      for (const [i, line] of expected.entries()) {
        if (typeof line === "string") expect(lines[i]).toBe(line);
        else expect(lines[i]).toMatch(line);
      }
      expect(lines).toHaveLength(expected.length);
    },
    300_000,
  );
}

/** The programs of docs/soap.md by the language of their blocks. */
interface Sample {
  file: string;
  isThere: boolean;
  command(path: string): Promise<string[]> | string[];
}

const SAMPLES: Record<string, Sample> = {
  python: { file: "score.py", isThere: PYTHON !== undefined, command: (path) => [PYTHON!, path] },
  php: { file: "score.php", isThere: isInstalled("SoapClient (PHP)"), command: (path) => ["php", path] },
  perl: { file: "score.pl", isThere: isInstalled("SOAP::Lite (Perl)"), command: (path) => [PERL, path] },
  r: {
    file: "score.R",
    isThere: succeeds("Rscript", "-e", "library(httr); library(xml2)"),
    command: (path) => ["Rscript", path],
  },
  java: { file: "Score.java", isThere: succeeds("javac", "-version"), command: (path) => ["java", path] },
  csharp: {
    file: "Score.cs",
    isThere: isInstalled("asmx (Mono)"),
    async command(path) {
      const folder = dirname(path);
      await run(folder, ["wsdl", "-out:Proxy.cs", `${server.url}/soap/ConservationScorer?wsdl`]);
      await run(folder, ["mcs", "-r:System.Web.Services", path, "Proxy.cs"]);
      return ["mono", path.replace(/cs$/, "exe")];
    },
  },
  js: { file: "score.mjs", isThere: isInstalled("npm soap (Node)"), command: (path) => [NODE!, path] },
};

function isInstalled(toolkit: string): boolean {
  return TOOLKITS.find(({ name }) => name === toolkit)!.isThere;
}

/** Human p21 (UniProtKB P38936), which binds PCNA by the motif of the samples. */
const P21 =
  "MSEPAGDVRQNPCGSKACRRLFGPVDSEQLSRDCDALMAGCIQEARERWNFDFVTETPLEGDFAWERVRGLGLPKLYLPTGPRRGRDELGGGRRPGTSPALLQGTAEEDHVDLSLSCTLVPRSGEQAEGSPGGPGDSQGRKRRQTSMTDFYHSKRRLIFSKRKP";

for (const [language, { file, isThere, command }] of Object.entries(SAMPLES)) {
  test.skipIf(!isThere)(
    `the ${language} program of docs/soap.md runs${isThere ? "" : " (SKIPPED: not installed here)"}`,
    async () => {
      const documentation = readFileSync(join(ROOT, "docs/soap.md"), "utf8");
      const [, text] = documentation.split(`\n\`\`\`${language}\n`);
      const folder = join(place.directory, `sample-${language}`);
      mkdirSync(folder);
      symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
      const path = join(folder, file);
      writeFileSync(path, text.split("```")[0].replaceAll("http://127.0.0.1:8480", server.url));
      const words = await command(path);
      const program = Bun.spawn([...words, P21], { stdout: "pipe", stderr: "pipe" });
      const output = await Promise.all([
        Bun.readableStreamToText(program.stdout),
        Bun.readableStreamToText(program.stderr),
      ]);
      expect([await program.exited, ...output]).toEqual([
        0,
        "144 QTSMTDFY likely functional\n",
        expect.anything(),
      ]);
    },
    60_000,
  );
}

test("at least one toolkit is installed", () => {
  expect(TOOLKITS.filter(({ isThere }) => isThere).map(({ name }) => name)).not.toEqual([]);
});
