import { nearest, Problem } from "../../problem.ts";
import STARTER from "../motif-classes.tsv" with { type: "text" };

/** A named motif, as `elmIdentifierName` asks for it. */
export interface MotifClass {
  name: string;
  /** Other names that mean the same, such as ELM identifiers. */
  aliases: readonly string[];
  expression: string;
  /** Grammar of the expression. */
  dialect: "soap" | "elm";
  description: string;
  citation: string;
}

/** Motif classes by every name they have. */
export interface MotifClasses {
  readonly classes: readonly MotifClass[];
  /** @throws Problem unknown_motif_class with near names */
  find(name: string): MotifClass;
}

const COLUMNS = ["name", "alias", "expression", "description", "citation"] as const;

/** The table that comes with the program; docs/motif-classes.md prints it. */
export function starterClasses(): MotifClass[] {
  return readClasses(STARTER);
}

/**
 * Classes from tab-separated text with a line of COLUMNS first; aliases are separated by commas, empty lines
 * and lines that begin with `#` are skipped.
 * @throws Error that names the line: the table is part of the program
 */
export function readClasses(text: string): MotifClass[] {
  const lines = text.split(/\r?\n/).map((line, i) => ({ cells: line.split("\t"), number: i + 1, line }));
  const [head, ...rows] = lines.filter(({ line }) => line.trim() !== "" && !line.startsWith("#"));
  if (head?.line !== COLUMNS.join("\t")) {
    throw new Error(`motif classes: the first line names other columns than ${COLUMNS.join(", ")}`);
  }
  return rows.map(({ cells, number }) => {
    if (cells.length !== COLUMNS.length) {
      throw new Error(
        `motif classes, line ${number}: ${cells.length} columns where ${COLUMNS.length} are expected`,
      );
    }
    const [name, alias, expression, description, citation] = cells.map((cell) => cell.trim());
    const aliases = alias.split(/\s*,\s*/).filter((one) => one !== "");
    return { name, aliases, expression, dialect: "soap", description, citation };
  });
}

/**
 * Classes ready to be asked for. Where two tables know a name, that of the later one counts, so that an
 * imported table takes the place of the starter's approximations.
 * @throws Error where one table gives a name twice
 */
export function motifClasses(...tables: readonly (readonly MotifClass[])[]): MotifClasses {
  const byName = new Map<string, MotifClass>();
  for (const table of tables) {
    const own = new Set<string>();
    for (const motifClass of table) {
      for (const name of new Set([motifClass.name, ...motifClass.aliases])) {
        if (own.has(name)) throw new Error(`motif classes: ${name} is there twice`);
        own.add(name);
        byName.set(name, motifClass);
      }
    }
  }
  // An alias that a later table took for a class of its own is none any more.
  for (const motifClass of new Set(byName.values())) {
    const aliases = motifClass.aliases.filter((alias) => byName.get(alias) === motifClass);
    if (aliases.length === motifClass.aliases.length) continue;
    const kept = { ...motifClass, aliases };
    for (const name of [kept.name, ...aliases]) if (byName.get(name) === motifClass) byName.set(name, kept);
  }
  return {
    classes: [...new Set(byName.values())],
    find(name) {
      const found = byName.get(name);
      if (found) return found;
      const near = nearest(name, byName.keys());
      const hint =
        near.length > 0
          ? `Near names: ${near.join(", ")}.`
          : `${byName.size} names are known; docs/motif-classes.md lists them.`;
      // The name itself is the caller's text and not repeated.
      throw new Problem("unknown_motif_class", `No motif class has this name. ${hint}`);
    },
  };
}
