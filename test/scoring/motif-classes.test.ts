import { describe, expect, test } from "bun:test";
import {
  findClassType,
  motifClasses,
  readClasses,
  starterClasses,
} from "../../src/scoring/corpus/motif-classes.ts";
import { parsePattern } from "../../src/motif/pattern.ts";

const HEAD = "name\talias\texpression\tdescription\tcitation";

describe("the built-in table", () => {
  const starter = starterClasses();
  const classes = motifClasses(starter);

  test("the built-in table has at least twenty classes with valid expressions", () => {
    expect(starter.length).toBeGreaterThanOrEqual(20);
    for (const { name, expression, dialect, citation } of starter) {
      expect(() => parsePattern(expression, dialect), name).not.toThrow();
      expect(citation, name).not.toBe("");
    }
  });

  test.each(["LIG_SH3_1", "DOC_WW_Pin1_4", "DEG_MDM2_SWIB_1", "LIG_PCNA_PIPBox_1"])(
    "the built-in table has the class %s",
    (name) => {
      const found = classes.find(name);
      expect(found.aliases).toContain(name);
      expect(classes.find(found.name)).toBe(found);
    },
  );

  test.each([
    ["LIG_SH3_1", "LIG"],
    ["SH3-class-I", "LIG"],
    ["N-glycosylation", "MOD"],
    ["NLS-bipartite", "TRG"],
    ["ELME000001", null],
    ["Polo-box", null],
    ["toString", null],
  ] as const)("the type of %s is %p", (name, type) => {
    expect(findClassType(name)).toBe(type);
  });

  test("suggests similar names for an unknown name, and does not repeat it", () => {
    expect(() => classes.find("DEG_MDM2_SWIB_2")).toThrow(
      expect.objectContaining({
        code: "unknown_motif_class",
        message: expect.stringContaining("DEG_MDM2_SWIB_1"),
      }),
    );
    expect(() => classes.find("deg_mdm2_swib_1")).toThrow("DEG_MDM2_SWIB_1");
    expect(() => classes.find("<script>")).toThrow(/^(?!.*script)/);
    for (const name of ["", "__proto__", "constructor", "toString"]) {
      expect(() => classes.find(name)).toThrow(expect.objectContaining({ code: "unknown_motif_class" }));
    }
  });
});

describe("reading a table", () => {
  test("accepts aliases, comments, empty lines and CRLF", () => {
    const text = `# ours\r\n${HEAD}\r\n\r\nA\tB, C\tK.\tone\tsomebody\r\nD\t\tR\ttwo\tsomebody\r\n`;
    expect(readClasses(text)).toEqual([
      {
        name: "A",
        title: "",
        aliases: ["B", "C"],
        expression: "K.",
        dialect: "plain",
        description: "one",
        citation: "somebody",
      },
      {
        name: "D",
        title: "",
        aliases: [],
        expression: "R",
        dialect: "plain",
        description: "two",
        citation: "somebody",
      },
    ]);
  });

  test.each([
    ["", "first line"],
    ["name\texpression\n", "first line"],
    [`${HEAD}\nA\tB\tC\n`, "line 2"],
  ])("rejects %p", (text, word) => {
    expect(() => readClasses(text)).toThrow(word);
  });

  test("an imported class replaces built-in ones of its name or pattern, and takes their names", () => {
    const builtIn = readClasses(
      `${HEAD}\nA\tX\tK[RS]\t\tc\nB\tY,Z\tR[LIV].\t\tc\nC\t\tW\t\tc\nD\tP,Q\tC\t\tc\n`,
    );
    const imported = readClasses(
      `${HEAD}\nX\tE1\tKK\t\tc\nQ\t\tCC\t\tc\nM\t\tR[VLI](.)\t\tc\nP\t\tCCC\t\tc\n`,
    );
    const classes = motifClasses(builtIn, imported);
    expect(classes.classes.map(({ name, aliases }) => [name, ...aliases])).toEqual([
      ["C"],
      ["X", "E1", "A"],
      ["Q"],
      ["M", "B", "Y", "Z"],
      // The first alias that the table has.
      ["P", "D"],
    ]);
    expect(["A", "B", "C", "D", "Q"].map((name) => classes.find(name).name)).toEqual([
      "X",
      "M",
      "C",
      "P",
      "Q",
    ]);
    expect(classes.scanned.map(({ name }) => name)).toEqual(["X", "Q", "M", "P"]);
    expect(() => motifClasses(readClasses(`${HEAD}\nA\tX\tK\t\tc\nX\t\tR\t\tc\n`))).toThrow(
      "duplicate name X",
    );
  });
});
