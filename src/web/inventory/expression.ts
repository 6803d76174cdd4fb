/** Advanced filters, as a tree for the editor and as the text in `query_expression` (docs/rest.md). */

export interface Comparison {
  kind: "compare";
  /** A field, or a path across references. */
  category: string;
  /** A lookup, such as `icontains`. */
  operator: string;
  value: string;
  not: boolean;
}
export interface Group {
  kind: "and" | "or";
  parts: Form[];
  not: boolean;
}
export type Form = Comparison | Group;

/** Lookups written as signs. */
const SIGNS: Readonly<Record<string, string>> = { exact: "==", gte: ">=", gt: ">", lte: "<=", lt: "<" };
const LOOKUPS = new Map(Object.entries(SIGNS).map(([lookup, sign]) => [sign, lookup]));
LOOKUPS.set("=", "exact");

export const matchEverything = (): Group => ({ kind: "and", parts: [], not: false });
export const comparison = (category: string, operator = "icontains", value = ""): Comparison => ({
  kind: "compare",
  category,
  operator,
  value,
  not: false,
});

/** Parses an expression; undefined where it is not valid. */
export function readExpression(text: string): Group | undefined {
  const bare = text.trim().replace(/,\s*$/, "");
  if (bare === "") return matchEverything();
  try {
    const items = (JSON.parse(`[${bare}]`) as unknown[]).flat(1);
    const parts = items.map(readForm);
    const [only] = parts;
    return parts.length === 1 && only.kind !== "compare" ? only : { kind: "and", parts, not: false };
  } catch {
    return undefined;
  }
}

function readForm(item: unknown): Form {
  if (item === null || typeof item !== "object" || Array.isArray(item)) throw new Error("not a form");
  const entries = Object.entries(item).map(([name, value]) => [name.toLowerCase(), value] as const);
  const form = new Map<string, unknown>(entries);
  if (form.has("not")) {
    const inner = readForm(form.get("not"));
    return { ...inner, not: !inner.not };
  }
  for (const kind of ["and", "or"] as const) {
    const parts = form.get(kind);
    if (Array.isArray(parts)) return { kind, parts: parts.map(readForm), not: false };
  }
  const typed = String(form.get("operator") ?? "").trim();
  const category = form.get("category");
  if (typeof category !== "string" || typed === "") throw new Error("not a comparison");
  const operator = LOOKUPS.get(typed) ?? typed.toLowerCase();
  const value = form.get("value") ?? null;
  return { kind: "compare", category, operator, value: value === null ? "null" : String(value), not: false };
}

/** Prints a tree; the empty tree is an empty text. */
export function printExpression(group: Group): string {
  const full = pruned(group);
  if (!full) return "";
  if (full.kind === "and" && !full.not)
    return full.parts.map((part) => JSON.stringify(toWritten(part))).join(",");
  return JSON.stringify(toWritten(full));
}

/** Drops empty groups and comparisons without a field. */
function pruned(form: Group): Group | undefined {
  const parts = form.parts.flatMap((part): Form[] => {
    if (part.kind === "compare") return part.category === "" ? [] : [part];
    const inner = pruned(part);
    return inner ? [inner] : [];
  });
  return parts.length === 0 ? undefined : { ...form, parts };
}

function toWritten(form: Form): object {
  const plain =
    form.kind === "compare"
      ? { category: form.category, operator: SIGNS[form.operator] ?? form.operator, value: form.value }
      : { [form.kind]: form.parts.map(toWritten) };
  return form.not ? { not: plain } : plain;
}
