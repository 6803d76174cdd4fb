import { FileText } from "../components/file-text.tsx";
import { Tag } from "../components/layout.tsx";
import { formatCount } from "../format.tsx";
import { CorpusProtein, ProteinSearch } from "./protein-search.tsx";
import { looksLikeNucleotides, type ProteinInput } from "./protein-input.ts";

/** Takes proteins as text or files, and shows the recognized ones. */
export function ProteinField(props: {
  label: string;
  hint: string;
  value: string;
  input: ProteinInput;
  onInput: (text: string) => void;
  errors?: readonly string[] | undefined;
  rows?: number;
  /** True if proteins that are chosen by name are added to the others. */
  many?: boolean;
}) {
  const { input, onInput } = props;
  const accession =
    input.kind === "proteins" && input.entries.length === 1 && input.entries[0].sequence === null
      ? input.entries[0].name
      : null;
  return (
    <FileText
      label={props.label}
      hint={props.hint}
      rows={props.rows ?? 7}
      value={props.value}
      onInput={onInput}
      errors={[...(props.errors ?? []), ...(input.kind === "wrong" ? [input.message] : [])]}
      file={{ label: "File with proteins", accept: ".fasta,.fa,.faa,.txt,.gz" }}
      before={
        <ProteinSearch onChoose={(chosen) => onInput(props.many ? appended(props.value, chosen) : chosen)} />
      }
      status={
        <>
          {accession === null ? summarize(input) : <CorpusProtein {...{ accession }} onChoose={onInput} />}{" "}
          {input.kind === "proteins" && looksLikeNucleotides(input.entries) && (
            <Tag tone="warn">Looks like DNA or RNA: translate it first</Tag>
          )}
        </>
      }
    />
  );
}

const appended = (text: string, line: string): string =>
  text.trim() === "" ? line : `${text.trimEnd()}\n${line}`;

function summarize(input: ProteinInput): string {
  if (input.kind !== "proteins") return "";
  const { entries } = input;
  const [{ name, sequence }] = entries;
  if (sequence === null) return `${entries.length} accessions or names`;
  const residues = entries.reduce((sum, entry) => sum + (entry.sequence?.length ?? 0), 0);
  const size = `${formatCount(residues)} residues`;
  if (entries.length > 1) return `${entries.length} sequences, ${size}`;
  return name === "" ? size : `${name}, ${size}`;
}
