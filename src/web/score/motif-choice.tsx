import { useState } from "preact/hooks";
import { SelectField } from "../components/field.tsx";
import type { Model } from "./job.ts";
import { MotifChooser } from "./motif-chooser.tsx";
import { PatternList } from "./pattern-list.tsx";

/** The motifs that somebody is choosing, by name and by pattern. */
export interface MotifChoice {
  classes: string[];
  setClasses: (classes: string[]) => void;
  patterns: string[];
  setPatterns: (patterns: string[]) => void;
  /** The patterns without those that are still empty. */
  wanted: string[];
}

/** Begins with those of the address. */
export function useMotifChoice(query: URLSearchParams): MotifChoice {
  const [classes, setClasses] = useState<string[]>(query.getAll("class"));
  const [patterns, setPatterns] = useState<string[]>(query.getAll("pattern"));
  const wanted = patterns.map((pattern) => pattern.trim()).filter((pattern) => pattern !== "");
  return { classes, setClasses, patterns, setPatterns, wanted };
}

/** The card in which motifs are chosen. */
export function MotifsCard(props: {
  choice: MotifChoice;
  /** As many named ones, and as many patterns, at most. */
  most?: number;
  errors: { [field: string]: readonly string[] | undefined };
}) {
  const { choice, most = Infinity, errors } = props;
  return (
    <section class="card" aria-labelledby="motifs">
      <h2 id="motifs">Motifs</h2>
      <MotifChooser
        chosen={choice.classes}
        onChange={choice.setClasses}
        most={most}
        errors={errors.motifClasses}
      />
      <PatternList
        patterns={choice.patterns}
        onChange={choice.setPatterns}
        most={most}
        errors={errors.patterns}
      />
    </section>
  );
}

export function ModelChoice({ value, onChange }: { value: Model; onChange: (model: Model) => void }) {
  return (
    <SelectField<Model>
      label="A homolog counts"
      value={value}
      onChange={onChange}
      choices={[
        { value: "continuous", name: "by how far it keeps the match (continuous)" },
        { value: "discontinuous", name: "all or none (discontinuous)" },
      ]}
    />
  );
}
