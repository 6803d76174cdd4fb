import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { DataLink } from "../components/data-link.tsx";
import { Banner } from "../components/banner.tsx";
import { Checkbox, SelectField } from "../components/field.tsx";
import { FormButtons, FormError, type useSubmission } from "../components/form.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { ApiError, call } from "../request.ts";
import type { Model } from "./job.ts";
import { classErrors, MotifChooser, PatternList } from "./motif-chooser.tsx";
import { ProteinField } from "./protein-field.tsx";
import { readProtein } from "./protein-input.ts";
import type { evidenceOf } from "./score-again.tsx";

type ScoreInput = ReturnType<typeof useScoreInput>;

/** Proteins, motifs and the scoring model, starting with those in the address. */
export function useScoreInput(query: URLSearchParams) {
  const [text, setText] = useState(query.get("protein") ?? "");
  const [classes, setClasses] = useState<readonly string[]>(query.getAll("class"));
  const [patterns, setPatterns] = useState<readonly string[]>(query.getAll("pattern"));
  const [model, setModel] = useState<Model>(
    query.get("model") === "discontinuous" ? "discontinuous" : "continuous",
  );
  const [evidence, setEvidence] = useState<Partial<ReturnType<typeof evidenceOf>>>({});
  const input = readProtein(text);
  const entries = input.kind === "proteins" ? input.entries : [];
  const filled = [...new Set(patterns.map((pattern) => pattern.trim()).filter((pattern) => pattern !== ""))];
  /** @throws ApiError that names the field to fill in first; `empty`: what to say without a protein, null where none is needed */
  const requireInput = (empty: string | null): void => {
    if (empty !== null && input.kind === "wrong")
      refuse("protein", "The protein cannot be read. Correct it as described below the field.");
    if (empty !== null && input.kind === "empty") refuse("querySequence", empty);
    if (classes.length + filled.length === 0) refuse("motifClasses", "Choose a motif, or enter a pattern.");
  };
  return {
    text,
    setText,
    input,
    entries,
    classes,
    setClasses,
    patterns,
    setPatterns,
    filled,
    model,
    setModel,
    evidence,
    setEvidence,
    requireInput,
  };
}

export function refuse(field: string, message: string): never {
  throw new ApiError(400, "invalid_request", message, { fields: { [field]: [message] } });
}

/** The form that scores one protein or many. */
export function ScoreForm(props: {
  of: ScoreInput;
  form: ReturnType<typeof useSubmission>;
  title: string;
  lead: string;
  actions: ComponentChildren;
  protein: { title: string; label: string; hint: string; rows?: number; many?: boolean };
  /** Above the proteins. */
  source?: ComponentChildren;
  /** An alignment instead of the proteins. */
  instead?: ComponentChildren;
  /** Below the proteins. */
  extra?: ComponentChildren;
  /** Content below the protein and the motifs, and the fields whose errors it shows. */
  more?: ComponentChildren;
  shown?: readonly string[];
  submit: string;
  status?: string | false;
  examples?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { of, form } = props;
  const { fields } = form;
  return (
    <form class="stack" onSubmit={form.submit} noValidate>
      <PageHead title={props.title} actions={props.actions}>
        {props.lead}
      </PageHead>
      <NoCorpus />
      {props.examples}
      <div class="columns">
        <Card title={props.protein.title}>
          {props.source}
          {props.instead || (
            <ProteinField
              {...props.protein}
              value={of.text}
              input={of.input}
              onInput={of.setText}
              errors={[...(fields.querySequence ?? []), ...(fields.accession ?? [])]}
            />
          )}
          {props.extra}
          <SelectField<Model>
            label="Scoring model"
            value={of.model}
            onChange={of.setModel}
            choices={[
              { value: "continuous", name: "Continuous: how well homologs keep the match" },
              { value: "discontinuous", name: "Discontinuous: whether homologs keep the match" },
            ]}
          />
          <EvidenceChoice of={of} />
        </Card>
        <Card title="Motifs">
          <MotifChooser
            chosen={of.classes}
            onChange={of.setClasses}
            errors={classErrors(fields, of.classes)}
          />
          <PatternList
            patterns={of.patterns}
            onChange={of.setPatterns}
            errors={fields.patterns}
            // Empty and repeated patterns are not sent.
            findErrors={(pattern) => fields[`patterns.${of.filled.indexOf(pattern.trim())}`]}
          />
        </Card>
      </div>
      {props.more}
      <FormError
        of={form}
        shown={["querySequence", "accession", "patterns", "motifClasses", ...(props.shown ?? [])]}
        focus
      />
      <FormButtons of={form} submit={props.submit}>
        <span class="muted" role="status">
          {props.status}
        </span>
      </FormButtons>
      {props.children}
    </form>
  );
}

/** Applies imported features and class models, if a class has one, or leaves them out. */
export function EvidenceChoice({ of }: { of: Pick<ScoreInput, "evidence" | "setEvidence"> }) {
  const { value } = useLoaded("classes", (signal) => call("GET /api/scoring/motif-classes", { signal }));
  const choose = (name: "ignoreFeatures" | "ignoreClassModels", label: string) => (
    <Checkbox
      label={label}
      checked={of.evidence[name] !== true}
      onChange={(on) => of.setEvidence({ ...of.evidence, [name]: !on })}
    />
  );
  return (
    <>
      {choose("ignoreFeatures", "Use imported features of the protein, such as domains and phosphosites")}
      {value?.results.some(({ model }) => model) &&
        choose("ignoreClassModels", "Use what known instances tell about their motif classes")}
    </>
  );
}

/** True if it is known that no corpus is in use. */
export function useNoCorpus(): boolean {
  const { error } = useLoaded("corpus", (signal) => call("GET /api/scoring/corpus", { signal }));
  return error instanceof ApiError && error.status === 404;
}

export const NoCorpus = () =>
  useNoCorpus() ? (
    <Banner tone="warn">
      No corpus of proteins is in use, so no homologs can be found. An administrator can{" "}
      <a href={href("/administration/corpora")}>add a corpus</a>. <DataLink />
    </Banner>
  ) : null;
