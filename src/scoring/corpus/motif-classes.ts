import type { Dialect } from "../../motif/index.ts";
import { currentRequest } from "../../platform/request-context.ts";
import { nearest, Problem } from "../../problem.ts";
import STARTER from "./motif-classes.tsv" with { type: "text" };

/** A named motif. */
export interface MotifClass {
  name: string;
  /** Name for people, such as ELM's functional site; may be empty. */
  title: string;
  /** Synonyms, such as ELM identifiers, and names of built-in classes that it replaces. */
  aliases: readonly string[];
  expression: string;
  /** Grammar of the expression. */
  dialect: Dialect;
  description: string;
  citation: string;
}

/** Motif classes by all of their names. */
export interface MotifClasses {
  readonly classes: readonly MotifClass[];
  /** Classes that a scan of all classes tests. */
  readonly scanned: readonly MotifClass[];
  /** Undefined if no class has the name. */
  get(name: string): MotifClass | undefined;
  /** @throws Problem unknown_motif_class with near names */
  find(name: string): MotifClass;
}

/** Lists the classes: an address for clients, a command on the command line. */
function classList(): string {
  const request = currentRequest();
  return request ? `${request.baseUrl}/api/scoring/motif-classes` : "labd elm list";
}

const COLUMNS = ["name", "alias", "expression", "description", "citation"] as const;

/** Types of motif classes: the prefixes of ELM's names, with their meanings. */
export const CLASS_TYPES = {
  CLV: "cleavage site",
  DEG: "degron",
  DOC: "docking site",
  LIG: "ligand",
  MOD: "modification site",
  TRG: "targeting signal",
} as const;
export type ClassType = keyof typeof CLASS_TYPES;
export const CLASS_TYPE_NAMES = Object.keys(CLASS_TYPES) as ClassType[];

/** The type in a name such as `LIG_SH3_1`. */
const findTypeIn = (name: string): ClassType | null =>
  CLASS_TYPE_NAMES.find((type) => name.startsWith(`${type}_`)) ?? null;

let starterTypes: ReadonlyMap<string, ClassType | null> | undefined;

/** The type of a class by its name, for built-in ones by their aliases; null if it is unknown, as for expressions. */
export function findClassType(name: string): ClassType | null {
  starterTypes ??= new Map(
    starterClasses().map((one) => [
      one.name,
      one.aliases.map(findTypeIn).find((type) => type !== null) ?? null,
    ]),
  );
  return findTypeIn(name) ?? starterTypes.get(name) ?? null;
}

/** The built-in classes, listed in docs/motif-classes.md. */
export function starterClasses(): MotifClass[] {
  return readClasses(STARTER);
}

/**
 * Reads tab-separated classes below a header of COLUMNS; aliases are comma-separated, blank lines and comments are skipped.
 * @throws Error naming the line: the table is part of the program
 */
export function readClasses(text: string): MotifClass[] {
  const lines = text.split(/\r?\n/).map((line, i) => ({ cells: line.split("\t"), number: i + 1, line }));
  const [head, ...rows] = lines.filter(({ line }) => line.trim() !== "" && !line.startsWith("#"));
  if (head?.line !== COLUMNS.join("\t")) {
    throw new Error(`motif classes: the first line must name the columns ${COLUMNS.join(", ")}`);
  }
  return rows.map(({ cells, number }) => {
    if (cells.length !== COLUMNS.length) {
      throw new Error(
        `motif classes, line ${number}: ${cells.length} columns where ${COLUMNS.length} are expected`,
      );
    }
    const [name, alias, expression, description, citation] = cells.map((cell) => cell.trim());
    const aliases = alias.split(/\s*,\s*/).filter((one) => one !== "");
    return { name, title: "", aliases, expression, dialect: "plain", description, citation };
  });
}

/** ELM's classes of motifs that have another name in the built-in table than an alias says: names are unique there. */
const SAME_MOTIF: Readonly<Record<string, string>> = {
  "14-3-3-mode-2": "LIG_14-3-3_CanoR_1",
  "Endocytic-dileucine": "TRG_DiLeu_BaEn_1",
};

/** An expression without differences that change no match: order within brackets, and groups that mark one residue. */
const normalize = (expression: string): string =>
  expression
    .replaceAll(
      /\[(\^?)(\w+)\]/g,
      (_, not: string, letters: string) => `[${not}${[...letters].sort().join("")}]`,
    )
    .replaceAll(/\((\w|\.|\[\^?\w+\])\)(?![{?*+])/g, "$1");

/** The first class with a name or alias of the built-in one, else one with the same pattern. */
function findReplacement(
  { name, aliases, expression }: MotifClass,
  named: ReadonlyMap<string, MotifClass>,
  imported: readonly MotifClass[],
): MotifClass | undefined {
  const names = [name, ...aliases, SAME_MOTIF[name] ?? ""];
  const normal = normalize(expression);
  return (
    names.map((one) => named.get(one)).find((one) => one !== undefined) ??
    imported.find((one) => normalize(one.expression) === normal)
  );
}

/** Classes by name and alias. @throws Error if a name occurs twice */
function indexNames(classes: readonly MotifClass[]): Map<string, MotifClass> {
  const byName = new Map<string, MotifClass>();
  for (const motifClass of classes)
    for (const name of new Set([motifClass.name, ...motifClass.aliases])) {
      if (byName.has(name)) throw new Error(`motif classes: duplicate name ${name}`);
      byName.set(name, motifClass);
    }
  return byName;
}

/**
 * Built-in classes, and those of an imported table, which replace built-in ones of the same motif and get their names as
 * aliases.
 * @throws Error if a table contains a name twice
 */
export function motifClasses(
  builtIn: readonly MotifClass[],
  imported: readonly MotifClass[] = [],
): MotifClasses {
  indexNames(builtIn);
  const byName = indexNames(imported);
  const former = new Map<MotifClass, string[]>();
  const left = builtIn.filter((one) => {
    const replacement = findReplacement(one, byName, imported);
    if (replacement) former.set(replacement, (former.get(replacement) ?? []).concat(one.name, one.aliases));
    return !replacement;
  });
  const merged = imported.map((one) => {
    const names = (former.get(one) ?? []).filter((name) => !byName.has(name));
    return names.length === 0 ? one : { ...one, aliases: [...one.aliases, ...names] };
  });
  const classes = [...left, ...merged];
  const known = indexNames(classes);
  return {
    classes,
    // An imported table is scanned as it is.
    scanned: merged.length > 0 ? merged : left,
    get: (name) => known.get(name),
    find(name) {
      const found = known.get(name);
      if (found) return found;
      const near = nearest(name, known.keys());
      const hint =
        near.length > 0
          ? `Similar names: ${near.join(", ")}. ${classList()} lists all.`
          : `${known.size} names are known; ${classList()} lists them.`;
      // The name is the caller's text and must not be repeated.
      throw new Problem("unknown_motif_class", `No motif class has this name. ${hint}`);
    },
  };
}
