import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { SelectField } from "../components/field.tsx";
import { Card } from "../components/layout.tsx";
import { ApiError, get } from "../request.ts";
import type { Model } from "./job.ts";
import { MotifChooser } from "./motif-chooser.tsx";
import { PatternList } from "./pattern-list.tsx";

/** The motifs chosen for a job: named motif classes and patterns. */
export interface MotifChoice {
  classes: string[];
  setClasses: (classes: string[]) => void;
  patterns: string[];
  setPatterns: (patterns: string[]) => void;
  /** The patterns that are not empty. */
  filled: string[];
}

/** Starts with the motifs in the address. */
export function useMotifChoice(query: URLSearchParams): MotifChoice {
  const [classes, setClasses] = useState<string[]>(query.getAll("class"));
  const [patterns, setPatterns] = useState<string[]>(query.getAll("pattern"));
  const filled = [...new Set(patterns.map((pattern) => pattern.trim()).filter((pattern) => pattern !== ""))];
  return { classes, setClasses, patterns, setPatterns, filled };
}

export function MotifsCard(props: {
  choice: MotifChoice;
  /** Named motifs, and patterns, at most. */
  most?: number;
  errors: { [field: string]: readonly string[] | undefined };
}) {
  const { choice, most = Infinity, errors } = props;
  return (
    <Card title="Motifs">
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
    </Card>
  );
}

export const ModelChoice = ({ value, onChange }: { value: Model; onChange: (model: Model) => void }) => (
  <SelectField<Model>
    label="Scoring model"
    value={value}
    onChange={onChange}
    choices={[
      { value: "continuous", name: "Continuous: homologs count by how well they keep the match" },
      { value: "discontinuous", name: "Discontinuous: homologs keep the match or do not" },
    ]}
  />
);

/** Whether it is known that no corpus is in use. */
export function useNoCorpus(): boolean {
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    get("/api/scoring/corpus").catch((error: unknown) =>
      setMissing(error instanceof ApiError && error.status === 404),
    );
  }, []);
  return isMissing;
}

/** A warning where there is no corpus. */
export const NoCorpus = () =>
  useNoCorpus() ? (
    <Banner tone="warn">
      No corpus of proteins is in use, so no homologs can be found. An administrator can{" "}
      <a href={href("/administration/corpora")}>add a corpus</a>.
    </Banner>
  ) : null;
