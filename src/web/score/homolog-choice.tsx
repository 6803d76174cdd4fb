import { useEffect, useState } from "preact/hooks";
import { SelectField, TextField } from "../components/field.tsx";
import { capitalized } from "../format.tsx";
import { ApiError } from "../request.ts";
import { AlignmentField, alignmentText, type OwnAlignment } from "./alignment-field.tsx";
import { alignmentDraft, type Job } from "./job.ts";
import type { Result } from "./result.ts";

type HomologChoice = NonNullable<Job["homologs"]>;

/** The typed choice of homologs: lists separated by commas, identity in percent; empty for the default. */
export type ChoiceDraft = Readonly<Record<keyof HomologChoice, string>>;

export const DEFAULT_CHOICE: ChoiceDraft = {
  organisms: "",
  minIdentity: "",
  maxIdentity: "",
  maxHomologs: "",
  leaveOut: "",
};

/** The choice of a job, to be changed. */
export function toDraft(choice: Job["homologs"]): ChoiceDraft {
  const { organisms = [], leaveOut = [], minIdentity, maxIdentity, maxHomologs } = choice ?? {};
  const percent = (fraction: number | undefined): string =>
    fraction === undefined ? "" : String(Number((100 * fraction).toPrecision(6)));
  return {
    organisms: organisms.join(", "),
    leaveOut: leaveOut.join(", "),
    minIdentity: percent(minIdentity),
    maxIdentity: percent(maxIdentity),
    maxHomologs: maxHomologs === undefined ? "" : String(maxHomologs),
  };
}

/** The choice as jobs take it; undefined for the default one. @throws ApiError that names the fields to correct */
export function parseChoice(draft: ChoiceDraft): HomologChoice | undefined {
  const errors: Record<string, string[]> = {};
  const numberIn = (name: keyof HomologChoice, least: number, most: number): number | undefined => {
    const text = draft[name].trim();
    if (text === "") return undefined;
    const value = Number(text);
    if (!(value >= least && value <= most))
      errors[`homologs.${name}`] = [`Enter a number from ${least} to ${most}.`];
    return value;
  };
  const fraction = (percent: number | undefined): number | undefined =>
    percent === undefined ? undefined : percent / 100;
  const choice = {
    organisms: listIn(draft.organisms, /[,;\n]/),
    leaveOut: listIn(draft.leaveOut, /[\s,;]+/),
    minIdentity: fraction(numberIn("minIdentity", 25, 100)),
    maxIdentity: fraction(numberIn("maxIdentity", 25, 100)),
    maxHomologs: numberIn("maxHomologs", 1, 100),
  };
  const [first] = Object.values(errors).flat();
  if (first !== undefined) throw new ApiError(400, "invalid_request", first, { fields: errors });
  const members = Object.entries(choice).filter(([, value]) => value !== undefined);
  return members.length === 0 ? undefined : (Object.fromEntries(members) as HomologChoice);
}

/** Different items; undefined for none. */
function listIn(text: string, separator: RegExp): string[] | undefined {
  const items = text
    .split(separator)
    .map((item) => item.trim())
    .filter(Boolean);
  return items.length === 0 ? undefined : [...new Set(items)];
}

const FIELDS = [
  {
    name: "organisms",
    label: "Only these organisms",
    hint: "Scientific names, NCBI’s numbers or UniProt’s mnemonics (HUMAN), separated by commas.",
  },
  { name: "minIdentity", label: "Lowest identity in %", hint: "At least 25, the default." },
  { name: "maxIdentity", label: "Highest identity in %", hint: "At most 100, the default." },
  { name: "maxHomologs", label: "Number of homologs", hint: "At most 100, the default." },
  {
    name: "leaveOut",
    label: "Leave out these proteins",
    hint: "Accessions, separated by commas or spaces.",
  },
] as const;

/** Error messages by path, such as `homologs.organisms.1`. */
export type ChoiceErrors = Readonly<Record<string, readonly string[]>>;

/** Messages about a field of the choice, or about one of its items. */
const errorsAt = (errors: ChoiceErrors, name: string): string[] =>
  Object.entries(errors).flatMap(([path, texts]) =>
    path.split(".").slice(0, 2).join(".") === `homologs.${name}` ? texts.map(capitalized) : [],
  );

/** The fields of a choice. */
export function HomologFields(props: {
  draft: ChoiceDraft;
  onChange: (draft: ChoiceDraft) => void;
  errors?: ChoiceErrors | undefined;
}) {
  const { draft, onChange, errors = {} } = props;
  return (
    <div class="columns">
      {FIELDS.map(({ name, label, hint }) => (
        <TextField
          key={name}
          {...{ label, hint }}
          value={draft[name]}
          onInput={(text) => onChange({ ...draft, [name]: text })}
          errors={errorsAt(errors, name)}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          {...(name === "organisms" || name === "leaveOut" ? {} : { inputMode: "decimal" as const })}
        />
      ))}
    </div>
  );
}

/** Messages about the choice that no field shows. */
export const otherErrors = (errors: ChoiceErrors): string[] =>
  Object.entries(errors).flatMap(([path, texts]) => {
    const [member, name] = path.split(".");
    return member === "homologs" && !FIELDS.some((field) => field.name === name)
      ? texts.map(capitalized)
      : [];
  });

/** The choice in an address. */
const draftIn = (query: URLSearchParams): ChoiceDraft =>
  Object.fromEntries(Object.keys(DEFAULT_CHOICE).map((name) => [name, query.get(name) ?? ""])) as Record<
    keyof HomologChoice,
    string
  >;

/** The source of homologs, a search with a choice or an alignment, starting with the one in the address or entered in this tab. */
export function useHomologChoice(query: URLSearchParams) {
  const [draft, setDraft] = useState(() => draftIn(query));
  const [own, setOwn] = useState<OwnAlignment>({ text: "", query: "" });
  const [isOwn, setIsOwn] = useState(false);
  useEffect(() => {
    const text = alignmentDraft.read();
    if (text === "" || query.has("from") || query.has("protein")) return;
    setOwn({ text, query: "" });
    setIsOwn(true);
  }, []);
  useEffect(() => alignmentDraft.keep(isOwn ? own.text : ""), [isOwn, own.text]);
  const isChosen = Object.values(draft).some((text) => text.trim() !== "");
  /** Starts with the homologs of a result. */
  const fill = (job: Job, result: Result): void => {
    setDraft(toDraft(job.homologs));
    setIsOwn(job.hasOwnAlignment);
    if (job.hasOwnAlignment) setOwn({ text: alignmentText(result), query: "" });
  };
  /** Fields of the job. @throws ApiError that names the fields to correct */
  const fields = (): object =>
    isOwn
      ? { alignment: own.text, ...(own.query.trim() && { alignmentQuery: own.query.trim() }) }
      : { homologs: parseChoice(draft) };
  return { draft, setDraft, own, setOwn, isOwn, setIsOwn, isChosen, fill, fields };
}

type Homologs = ReturnType<typeof useHomologChoice>;

export const HomologSource = ({ of }: { of: Homologs }) => (
  <SelectField<"search" | "own">
    label="Homologs"
    value={of.isOwn ? "own" : "search"}
    onChange={(source) => of.setIsOwn(source === "own")}
    choices={[
      { value: "search", name: "Search the corpus" },
      { value: "own", name: "Use my own alignment" },
    ]}
  />
);

export const OwnAlignmentField = ({
  of,
  errors,
}: {
  of: Homologs;
  errors: Parameters<typeof AlignmentField>[0]["errors"];
}) => <AlignmentField value={of.own} onChange={of.setOwn} errors={errors} />;

/** The choice, closed at first unless something is chosen. */
export function HomologCard({ of, errors = {} }: { of: Homologs; errors?: ChoiceErrors | undefined }) {
  const others = otherErrors(errors);
  return (
    <details
      class="card"
      open={of.isChosen || Object.keys(errors).some((path) => path.startsWith("homologs"))}
    >
      <summary class="card-head">
        <h2>Choose the homologs</h2>
      </summary>
      <div class="card-body">
        <p class="hint">
          By default, up to 100 homologs of all organisms. P values were made for this, so with another choice
          they hold only roughly.
        </p>
        <HomologFields draft={of.draft} onChange={of.setDraft} errors={errors} />
        {others.length > 0 && <p class="error">{others.join(" ")}</p>}
      </div>
    </details>
  );
}
