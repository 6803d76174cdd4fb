import type { Dialect } from "../../motif/index.ts";
import { currentRequest } from "../../platform/request-context.ts";
import { nearest, Problem } from "../../problem.ts";
import STARTER from "./motif-classes.tsv" with { type: "text" };

/** A named motif. */
export interface MotifClass {
  name: string;
  /** Synonyms, such as ELM identifiers. */
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
    return { name, aliases, expression, dialect: "plain", description, citation };
  });
}

/**
 * Combines tables. Names in later tables override earlier ones, so that an imported table replaces built-in approximations.
 * @throws Error if a table contains a name twice
 */
export function motifClasses(...tables: readonly (readonly MotifClass[])[]): MotifClasses {
  const byName = new Map<string, MotifClass>();
  for (const table of tables) {
    const own = new Set<string>();
    for (const motifClass of table) {
      for (const name of new Set([motifClass.name, ...motifClass.aliases])) {
        if (own.has(name)) throw new Error(`motif classes: duplicate name ${name}`);
        own.add(name);
        byName.set(name, motifClass);
      }
    }
  }
  // An alias that a later table uses for its own class is no longer an alias.
  for (const motifClass of new Set(byName.values())) {
    const aliases = motifClass.aliases.filter((alias) => byName.get(alias) === motifClass);
    if (aliases.length === motifClass.aliases.length) continue;
    const kept = { ...motifClass, aliases };
    for (const name of [kept.name, ...aliases]) if (byName.get(name) === motifClass) byName.set(name, kept);
  }
  const classes = [...new Set(byName.values())];
  return {
    classes,
    // The built-in classes are versions of those in an imported table, which would be tested twice.
    scanned: tables.findLast((table) => table.length > 0) ?? [],
    get: (name) => byName.get(name),
    find(name) {
      const found = byName.get(name);
      if (found) return found;
      const near = nearest(name, byName.keys());
      const hint =
        near.length > 0
          ? `Similar names: ${near.join(", ")}. ${classList()} lists all.`
          : `${byName.size} names are known; ${classList()} lists them.`;
      // The name is the caller's text and must not be repeated.
      throw new Problem("unknown_motif_class", `No motif class has this name. ${hint}`);
    },
  };
}
