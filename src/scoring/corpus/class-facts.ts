import {
  type ClassFacts,
  type Compartment,
  markedResidue,
  parsePattern,
  type PhosphoResidue,
} from "../../motif/index.ts";
import { CLASS_TYPE_NAMES, type MotifClass } from "./motif-classes.ts";

/** Beginnings of ELM's names of classes whose compartments are not those of most: empty where they are not known. */
const COMPARTMENTS: readonly (readonly [names: RegExp, compartments: readonly Compartment[]])[] = [
  [
    /^(CLV_MEL|CLV_PCSK|LIG_FXI|LIG_Integrin|LIG_LRP6|LIG_NRP|MOD_ASX|MOD_CMANNOS|MOD_Cter|MOD_GlcNH|MOD_N-GLC|MOD_OFUCOSY|MOD_OGLYCOS|MOD_WntLipid|TRG_ER_KDEL)/,
    ["outside"],
  ],
  [/^(LIG_BIR|LIG_BH_BH3)/, ["inside", "mitochondrion"]],
  [/^(LIG_Pex|TRG_PTS)/, ["inside", "peroxisome"]],
  [/^(CLV_NRD|LIG_CSK_EPIYA|LIG_RuBisCO|TRG_Oom|TRG_Pf)/, []],
];

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

/** Facts about a class: built-in ones by name, others by ELM's names and conventions. */
export function classFacts(motifClass: MotifClass): ClassFacts {
  const elmName = [motifClass.name, ...motifClass.aliases].find((name) =>
    CLASS_TYPE_NAMES.some((type) => name.startsWith(`${type}_`)),
  );
  return {
    compartments: elmName === undefined ? [] : compartmentsOf(elmName),
    phosphosite: PHOSPHOSITES[motifClass.name] ?? findPhosphosite(motifClass),
  };
}

const compartmentsOf = (elmName: string): readonly Compartment[] =>
  COMPARTMENTS.find(([names]) => names.test(elmName))?.[1] ?? ["inside"];

/** ELM marks modified residues by a group: `..[DE].(T)P.K`. The description says that the modification is a phosphorylation. */
function findPhosphosite({ expression, dialect, description }: MotifClass): PhosphoResidue | null {
  if (dialect !== "elm" || !/phosph/i.test(description)) return null;
  const marked = markedResidue(parsePattern(expression, dialect));
  return marked && /^[STY]+$/.test(marked.letters) ? marked : null;
}
