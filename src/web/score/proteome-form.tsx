import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Combobox } from "../components/combobox.tsx";
import { type Choices, SelectField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Card } from "../components/layout.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { navigate } from "../page.tsx";
import { call } from "../request.ts";
import { classTitle, type MotifClass } from "./class-link.tsx";
import { PatternField } from "./motif-chooser.tsx";
import { type Proteome, type Search } from "./proteome.ts";
import { refuse } from "./score-form.tsx";

const MAX_CLASSES = 12;

/** Starts a search, and goes to its page. */
export async function startSearch(body: {
  pattern?: string | undefined;
  motifClass?: string | undefined;
  organism?: string | undefined;
  scoringModel?: Search["scoringModel"];
}): Promise<void> {
  const search = await call("POST /api/scoring/proteome/searches", { body });
  navigate(`/proteome/${search.id}`);
}

/** A motif class or a pattern, and the proteins to search, starting with those in an address. */
export function ProteomeForm({ proteome, initial }: { proteome: Proteome; initial: URLSearchParams }) {
  const [motifClass, setMotifClass] = useState(initial.get("class") ?? "");
  const [pattern, setPattern] = useState(initial.get("pattern") ?? "");
  const organisms = organismChoices(proteome);
  const [organism, setOrganism] = useState(() => {
    const wanted = initial.get("organism");
    return (
      organisms.find(({ value, name }) => value === wanted || name.startsWith(`${wanted},`))?.value ?? ""
    );
  });
  const form = useSubmission(async () => {
    if (motifClass === "" && pattern.trim() === "")
      refuse("motifClass", "Choose a motif class, or enter a pattern.");
    await startSearch({
      ...(pattern.trim() === "" ? { motifClass } : { pattern: pattern.trim() }),
      organism: organism || undefined,
    });
    return true;
  });
  return (
    <form class="stack" onSubmit={form.submit} noValidate>
      <Card title="Motif and proteins">
        <div class="proteome-form">
          <ClassField
            value={motifClass}
            onChange={(name) => {
              setMotifClass(name);
              setPattern("");
            }}
            errors={form.fields.motifClass}
          />
          <PatternField
            label="Or a pattern"
            value={pattern}
            onChange={(text) => {
              setPattern(text);
              if (text.trim() !== "") setMotifClass("");
            }}
            errors={form.fields.pattern}
          />
          <SelectField
            label="Organism"
            value={organism}
            choices={organisms}
            onChange={setOrganism}
            errors={form.fields.organism}
          />
        </div>
      </Card>
      <FormError of={form} shown={["motifClass", "pattern", "organism"]} focus />
      <div class="actions">
        <Button look="primary" type="submit" icon="dna" busy={form.busy}>
          Search
        </Button>
      </div>
    </form>
  );
}

/** All proteins, and organisms with proteins that can be searched; those without a taxon go by their name. */
function organismChoices({ families, organisms }: Proteome): Choices {
  const named = organisms.flatMap(({ name, taxon, proteins }) => {
    const value = taxon === null ? name : String(taxon);
    return value === null ? [] : [{ value, name: `${name ?? value}, ${pluralize(proteins, "protein")}` }];
  });
  return [{ value: "", name: `All, ${pluralize(families, "protein")}` }, ...named];
}

const ClassField = (props: {
  value: string;
  onChange: (name: string) => void;
  errors: readonly string[] | undefined;
}) => (
  <Combobox<MotifClass>
    label="Motif class"
    hint="Search by any word of the name, partner or expression."
    placeholder="Name, partner or expression"
    shown={props.value}
    errors={props.errors}
    search={async (query, signal) => {
      const { results, total } = await call("GET /api/scoring/motif-classes", {
        query: { query, limit: MAX_CLASSES },
        signal,
      });
      const more = total - results.length;
      return {
        options: results,
        note: more > 0 ? `${formatCount(more)} more. Add a word.` : undefined,
      };
    }}
    optionKey={({ name }) => name}
    onChoose={({ name }) => props.onChange(name)}
  >
    {(motif) => (
      <>
        {classTitle(motif)} {motif.title !== "" && <small>{motif.name}</small>}{" "}
        <code>{motif.expression}</code> <small>{motif.description}</small>
      </>
    )}
  </Combobox>
);
