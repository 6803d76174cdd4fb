import {
  type ClassFacts,
  type Compartment,
  markedResidue,
  parsePattern,
  type PatternRequest,
  type PhosphoResidue,
} from "../../motif/index.ts";
import { CLASS_TYPE_NAMES, type MotifClasses } from "./motif-classes.ts";

/** Beginnings of ELM's names of classes outside the cytosol and the nucleus, and of classes on both sides. */
const OUTSIDE =
  /^(CLV_MEL|CLV_PCSK|LIG_FXI|LIG_Integrin|LIG_LRP6|LIG_NRP|MOD_ASX|MOD_CMANNOS|MOD_Cter|MOD_GlcNH|MOD_N-GLC|MOD_OFUCOSY|MOD_OGLYCOS|MOD_WntLipid|TRG_ER_KDEL)/;
const BOTH_SIDES = /^(CLV_NRD|LIG_CSK_EPIYA|TRG_Oom|TRG_Pf)/;

/** Places in the match of the residue that has to be phosphorylated, in built-in classes; ELM's expressions mark it. */
const PHOSPHOSITES: Readonly<Record<string, PhosphoResidue>> = {
  "14-3-3-mode-1": { letters: "ST", at: 4 },
  "14-3-3-mode-2": { letters: "ST", at: 4 },
  "14-3-3-mode-3": { letters: "ST", at: 1 },
  ITAM: { letters: "Y", at: 1 },
  "Polo-box": { letters: "ST", at: 2 },
  "SCF-FBW7": { letters: "T", at: 3 },
  "SCF-TrCP": { letters: "S", at: 2 },
  "WW-PIN1": { letters: "ST", at: 1 },
};

/** Facts about the classes among patterns, by the index of the pattern; classes that nothing is known of are left out. */
export function findClassFacts(
  patterns: readonly PatternRequest[],
  classes: MotifClasses,
): Record<number, ClassFacts> {
  return Object.fromEntries(
    patterns.flatMap((pattern, i) => {
      const facts = pattern.name === null ? null : factsOf({ ...pattern, name: pattern.name }, classes);
      return facts ? [[i, facts]] : [];
    }),
  );
}

/** Facts by name and expression: there are as many as classes. */
const known = new Map<string, ClassFacts | null>();

function factsOf(
  { name, expression, dialect }: PatternRequest & { name: string },
  classes: MotifClasses,
): ClassFacts | null {
  const key = `${name}\n${expression}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const { name: current = name, aliases = [] } = classes.get(name) ?? {};
  const names = [name, current, ...aliases];
  const elmName = names.find((one) => CLASS_TYPE_NAMES.some((type) => one.startsWith(`${type}_`)));
  const compartments = elmName === undefined ? [] : compartmentsOf(elmName);
  // ELM marks modified residues by a group, as in ..[DE].(T)P.K: outside the cell it is a sugar.
  const isMarked = elmName !== undefined && dialect === "elm" && !compartments.includes("outside");
  const marked = isMarked ? markedResidue(parsePattern(expression, dialect)) : null;
  // An expression that is not ELM's is a built-in one, also after the import of the class.
  const builtIn = dialect === "plain" ? names.find((one) => one in PHOSPHOSITES) : undefined;
  const phosphosite =
    builtIn === undefined
      ? marked && /^[STY]+$/.test(marked.letters)
        ? marked
        : null
      : PHOSPHOSITES[builtIn];
  const facts = compartments.length > 0 || phosphosite ? { compartments, phosphosite } : null;
  known.set(key, facts);
  return facts;
}

function compartmentsOf(elmName: string): readonly Compartment[] {
  if (BOTH_SIDES.test(elmName)) return [];
  return OUTSIDE.test(elmName) ? ["outside"] : ["inside"];
}
