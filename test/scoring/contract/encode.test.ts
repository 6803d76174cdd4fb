import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SaxesParser } from "saxes";
import { create } from "xmlbuilder2";
import type { Static } from "typebox";
import type { Prediction } from "../../../src/motif/index.ts";
import { type Code, Problem, PROBLEMS } from "../../../src/problem.ts";
import { encodeFault, encodeResponse } from "../../../src/scoring/contract/encode.ts";
import { encodePrediction } from "../../../src/scoring/prediction/encode-prediction.ts";
import { escapeAttribute, escapeText, printNumber } from "../../../src/platform/xml-text.ts";
import { DEFAULT_SERVICE_NAMESPACE, SOAP_12 } from "../../../src/scoring/contract/namespaces.ts";
import { complexTypes, CON_SCORE_PREDICTION } from "../../../src/scoring/prediction/con-score-prediction.ts";
import type {
  NamedQuery,
  PredictionReport,
  ResultSchema,
} from "../../../src/scoring/prediction/prediction.ts";
import { messageSchema, predictionSchema } from "../../../src/scoring/contract/xsd.ts";
import { EMPTY, SAMPLE } from "../sample-prediction.ts";
import { pick, random } from "./random-message.ts";

const namespace = DEFAULT_SERVICE_NAMESPACE;
const folder = mkdtempSync(join(tmpdir(), "contract-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Holds two types to be the same; fails to compile where they are not. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isSame: Same<Plain<Static<typeof ResultSchema>>, Plain<Prediction & NamedQuery>> = true;
/** Types with their parts spelled out, so that names do not count. */
type Plain<T> = T extends (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { [K in keyof T]: Plain<T[K]> }
    : T;

interface Element {
  name: string;
  text: string;
  children: Element[];
}

/** The document as a tree of local names; throws where it is not well-formed. */
function parse(xml: string): Element {
  const parser = new SaxesParser({ xmlns: true });
  const root: Element = { name: "", text: "", children: [] };
  const open = [root];
  parser.on("opentag", ({ local }) => {
    const element = { name: local, text: "", children: [] };
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on("text", (text) => void (open.at(-1)!.text += text));
  parser.on("closetag", () => void open.pop());
  parser.write(xml).close();
  return root.children[0];
}

const find = (element: Element, ...path: string[]): Element[] =>
  path.length === 0
    ? [element]
    : element.children
        .filter(({ name }) => name === path[0])
        .flatMap((child) => find(child, ...path.slice(1)));
const texts = (element: Element, ...path: string[]): string[] =>
  find(element, ...path).map(({ text }) => text);

const NASTY = [
  "",
  "A&B <c> ]]>",
  "tab\tline\ncr\rnel\u0085ls\u2028",
  "\u0000\u0008\u000B\u001F\u007F",
  "\uFFFE\uFFFF\uD800x\uDC00",
  "\u{1F9EC} 蛋白",
  "'\"'",
];

const REPORTS: PredictionReport[] = [
  SAMPLE,
  EMPTY,
  ...NASTY.map((text) => ({
    identifier: text,
    prediction: {
      ...SAMPLE.prediction,
      corpus: null,
      homologs: [{ ...SAMPLE.prediction.homologs[0], description: text }],
      patterns: [],
      warnings: [text],
    },
  })),
];

test("the result schema describes the library's predictions", () => expect(isSame).toBe(true));

describe("responses", () => {
  test("responses have the envelope of their SOAP version", () => {
    expect(encodeResponse("RunJob", { JobIdentifier: "6f1d" }, "1.1", namespace)).toEqual({
      status: 200,
      headers: { "Content-Type": "text/xml; charset=utf-8" },
      body:
        '<?xml version="1.0" encoding="utf-8"?>\n<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
        `<tns:RunJobResponse xmlns:tns="${namespace}"><tns:JobIdentifier>6f1d</tns:JobIdentifier></tns:RunJobResponse>` +
        "</soap:Body></soap:Envelope>",
    });
    const { headers, body } = encodeResponse(
      "GetStatus",
      { Status: "running", StatusDetails: "a < b" },
      "1.2",
      namespace,
    );
    expect(headers["Content-Type"]).toBe("application/soap+xml; charset=utf-8");
    expect(body).toContain(`<soap:Envelope xmlns:soap="${SOAP_12}">`);
    expect(body).toContain("<tns:Status>running</tns:Status><tns:StatusDetails>a &lt; b</tns:StatusDetails>");
  });

  test("responses omit missing optional values", () => {
    expect(
      encodeResponse("GetStatus", { Status: "queued", StatusDetails: null }, "1.1", namespace).body,
    ).not.toContain("StatusDetails");
    const none = encodeResponse("GetResult", { ConScorePrediction: null }, "1.1", namespace).body;
    expect(none).toContain(`<tns:GetResultResponse xmlns:tns="${namespace}"></tns:GetResultResponse>`);
  });

  test("responses escape the namespace", () => {
    const { body } = encodeResponse("RunJob", { JobIdentifier: "1" }, "1.1", 'urn:a"b&c<d');
    expect(body).toContain('xmlns:tns="urn:a&quot;b&amp;c&lt;d"');
  });

  test.each(REPORTS)("responses contain all values of a prediction: report %#", (report) => {
    const { prediction } = report;
    const { homologs } = prediction;
    const root = parse(encodePrediction(report));
    expect(texts(root, "query", "sequenceLength")).toEqual([String(prediction.queryLength)]);
    expect(texts(root, "homolog", "accession")).toEqual(homologs.map(({ accession }) => accession));
    expect(texts(root, "homolog", "homologNumber")).toEqual(homologs.map((_, i) => String(i + 1)));
    expect(find(root, "corpus").length).toBe(prediction.corpus ? 1 : 0);
    expect(texts(root, "newickTree")).toEqual(prediction.tree === "" ? [] : [prediction.tree]);
    const counts = prediction.patterns.map(({ matches }) => String(matches.length));
    expect(texts(root, "pattern", "matchCount")).toEqual(counts);
    const matches = prediction.patterns.flatMap((pattern) => pattern.matches);
    const elements = find(root, "pattern", "motifMatch");
    expect(elements.length).toBe(matches.length);
    for (const [i, { start, score, text, conservation, atHomologs }] of matches.entries()) {
      const values = (...path: string[]): string[] => texts(elements[i], ...path);
      expect(values("conservationScore").map(Number)).toEqual(score === null ? [] : [score]);
      // A match that could not be scored has no positions.
      expect(values("position", "residueNumber")).toEqual(conservation.map((_, k) => String(start + k)));
      expect(values("position", "residue").join("")).toBe(text.slice(0, conservation.length));
      expect(values("position", "conservation").map(Number)).toEqual(
        conservation.filter((one) => one !== null),
      );
      expect(values("homologAtMatch", "accession")).toEqual(
        atHomologs.map(({ homolog }) => homologs[homolog].accession),
      );
      expect(values("homologAtMatch", "homologNumber")).toEqual(
        atHomologs.map(({ homolog }) => String(homolog + 1)),
      );
      expect(values("homologAtMatch", "state")).toEqual(atHomologs.map(({ state }) => state));
    }
  });

  test.each(REPORTS)("responses print a prediction as xmlbuilder2 does: report %#", (report) => {
    const printed = encodePrediction(report).replaceAll("&#13;", "");
    expect(printed).toBe(create(printed).end({ headless: true, wellFormed: true, allowEmptyTags: true }));
  });

  const XMLLINT = Bun.which("xmllint");
  test.skipIf(XMLLINT === null)(
    "responses are valid according to the schema (skipped if xmllint of libxml2 is not installed)",
    () => {
      const bodies = REPORTS.map(
        (report) =>
          encodeResponse("GetResult", { ConScorePrediction: encodePrediction(report) }, "1.1", namespace)
            .body,
      );
      for (const text of NASTY) {
        bodies.push(
          encodeResponse("RunJob", { JobIdentifier: text }, "1.1", namespace).body,
          encodeResponse("GetStatus", { Status: text, StatusDetails: text }, "1.1", namespace).body,
        );
      }
      bodies.push(
        encodeResponse("GetResult", { ConScorePrediction: null }, "1.1", namespace).body,
        encodeFault(new Problem("unknown_job", "None."), "1.1", namespace).body,
      );
      writeFileSync(join(folder, "messages.xsd"), messageSchema(namespace, "prediction.xsd"));
      writeFileSync(join(folder, "prediction.xsd"), predictionSchema());
      const names = bodies.map((body, i) => {
        const [content] = /<tns:.*(?=<\/soap:Body>|<\/detail>)/s.exec(
          body.replace(/<\/detail>.*/s, "</detail>"),
        )!;
        writeFileSync(join(folder, `${i}.xml`), content);
        return `${i}.xml`;
      });
      const run = Bun.spawnSync([XMLLINT!, "--noout", "--schema", "messages.xsd", ...names], { cwd: folder });
      const errors = run.stderr
        .toString()
        .split("\n")
        .filter((line) => !line.endsWith("validates"));
      expect(errors.join("\n")).toBe("");
    },
  );
});

describe("names in the prediction's schema", () => {
  // Words that at least one language of the toolkits keeps for itself, or that its objects have already.
  const RESERVED = new Set(
    (
      "abstract alias and as assert async await base bool boolean break byte case catch char checked class clone const continue " +
      "decimal def default defined del delegate delete do double echo elif else elseif end ensure enum equals eval event except " +
      "exec explicit extends extern false final finally fixed float for foreach from function global goto hash id if implements " +
      "implicit import in include init inspect instanceof int interface internal is lambda list local lock long match method module " +
      "namespace native new next nil none not null object operator or out override package params parent pass print private " +
      "protected public raise range readonly redo ref repeat require rescue retry return sealed self send short sizeof static " +
      "strictfp string struct sub super switch synchronized template then this throw throws transient true try type typedef typeof " +
      "undef union unless unsafe until use using values var virtual void volatile wait when where while with yield"
    ).split(" "),
  );
  const types = [...complexTypes(), CON_SCORE_PREDICTION];

  test("names in the schema are not keywords, and are unique in their type", () => {
    for (const { name, parts } of types) {
      const names = parts.map((part) => part.name);
      expect({ name, bad: names.filter((part) => RESERVED.has(part.toLowerCase())) }).toEqual({
        name,
        bad: [],
      });
      expect(new Set(names).size).toBe(names.length);
    }
    expect(types.length).toBeGreaterThan(6);
  });

  test("names in the schema are documented", () => {
    for (const { parts } of types) for (const { meaning } of parts) expect(meaning).toMatch(/^\S.{10,}\.$/s);
  });
});

describe("faults", () => {
  const codes = Object.keys(PROBLEMS) as Code[];

  test.each(codes)("faults have the right codes for %s in both versions", (code) => {
    const problem = new Problem(code, "What <was> wrong & where.", { headers: { "Retry-After": "5" } });
    const { soapFault } = PROBLEMS[code];
    const one = encodeFault(problem, "1.1", namespace);
    const fault = find(parse(one.body), "Body", "Fault")[0];
    expect(texts(fault, "faultcode")).toEqual([`soap:${soapFault}`]);
    expect(texts(fault, "faultstring")).toEqual(["What <was> wrong & where."]);
    expect(one.headers).toEqual({ "Content-Type": "text/xml; charset=utf-8", "Retry-After": "5" });
    const isTransport = code === "too_large" || code === "unsupported_media_type";
    expect(one.status).toBe(isTransport ? problem.status : 500);

    const two = encodeFault(problem, "1.2", namespace);
    const other = find(parse(two.body), "Body", "Fault")[0];
    const renamed: Record<string, string> = { Client: "Sender", Server: "Receiver" };
    expect(texts(other, "Code", "Value")).toEqual([`soap:${renamed[soapFault] ?? soapFault}`]);
    expect(texts(other, "Reason", "Text")).toEqual(["What <was> wrong & where."]);
    expect(two.status).toBe(isTransport ? problem.status : soapFault === "Client" ? 400 : 500);

    const isAboutHeaders = code === "version_mismatch" || code === "must_understand";
    expect(find(fault, "detail").length).toBe(isAboutHeaders ? 0 : 1);
    expect(find(other, "Detail").length).toBe(isAboutHeaders ? 0 : 1);
    const isDeclared = code === "unknown_job";
    expect(texts(fault, "detail", "problem", "code")).toEqual(isAboutHeaders || isDeclared ? [] : [code]);
    const described = texts(fault, "detail", "JobIdentifierFault", "FaultDescription");
    expect(described).toEqual(isDeclared ? ["What <was> wrong & where."] : []);
  });

  test("limits the length of fault messages", () => {
    expect(
      encodeFault(new Problem("invalid_request", "&".repeat(1e6)), "1.1", namespace).body.length,
    ).toBeLessThan(15_000);
  });
});

describe("XML text", () => {
  test("preserves text, except characters that XML forbids", () => {
    const next = random(5);
    const characters = [
      ..."&<>\"'\t\n\r abc]\u0085\u2028\uFFFD\u{10FFFF}\uE000",
      "\u0000",
      "\u001F",
      "\uFFFE",
      "\uD800",
    ];
    for (let round = 0; round < 2000; round++) {
      const text = Array.from({ length: Math.floor(next() * 8) }, () => pick(next, characters)).join("");
      const meant = text.replace(/[\u0000\u001F\uFFFE]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/g, "\uFFFD"); // oxlint-disable-line no-control-regex
      expect(parse(`<a>${escapeText(text)}</a>`).text).toBe(meant);
      let attribute = "";
      const parser = new SaxesParser();
      parser.on("attribute", ({ value }) => void (attribute = value));
      parser.write(`<a b="${escapeAttribute(text)}"/>`).close();
      expect(attribute).toBe(meant);
    }
  });

  test("prints numbers as XML Schema does", () => {
    expect([0, -0, 1.5, 1e21, 1e-7, Infinity, -Infinity, Number.NaN].map(printNumber)).toEqual([
      "0",
      "0",
      "1.5",
      "1e+21",
      "1e-7",
      "INF",
      "-INF",
      "NaN",
    ]);
  });
});
