import { TextField } from "../components/field.tsx";
import { FileText } from "../components/file-text.tsx";
import type { Result } from "./result.ts";

/** An alignment of the reader's, and the identifier of the row that is the query; empty for the first. */
export interface OwnAlignment {
  text: string;
  query: string;
}

/** Takes an alignment as text or file. */
export function AlignmentField(props: {
  value: OwnAlignment;
  onChange: (value: OwnAlignment) => void;
  errors: Readonly<Record<string, readonly string[]>>;
}) {
  const { value, onChange, errors } = props;
  return (
    <FileText
      label="Your alignment"
      hint="Aligned FASTA, A3M, Clustal or Stockholm: paste it, drop a file here, or choose one. Up to 1,000 rows, the closest homologs first."
      rows={9}
      value={value.text}
      onInput={(text) => onChange({ ...value, text })}
      errors={errors.alignment}
      file={{
        label: "File with an alignment",
        accept: ".fasta,.fa,.afa,.a3m,.aln,.clustal,.sto,.stk,.txt,.gz",
      }}
      status={rowsText(value.text)}
    >
      <TextField
        label="Row of your protein"
        hint="Identifier of the query row; by default the first row."
        optional
        value={value.query}
        onInput={(query) => onChange({ ...value, query })}
        errors={errors.alignmentQuery}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
    </FileText>
  );
}

/** The number of rows in FASTA. */
function rowsText(text: string): string {
  const rows = text.match(/^>/gm)?.length ?? 0;
  return rows === 0 ? "" : `${rows.toLocaleString("en")} ${rows === 1 ? "row" : "rows"}`;
}

/** The alignment of a result as A3M. @param isKept whether a homolog (index) stays in it */
export function alignmentText(
  { identifier, alignment, homologs }: Result,
  isKept: (homolog: number) => boolean = () => true,
): string {
  const makeName = (name: string): string => name.replaceAll(/\s+/g, "_") || "query";
  const rows = alignment.rows.flatMap((row, i) =>
    isKept(i)
      ? `>${`${makeName(homologs[i].accession)} ${homologs[i].description.replaceAll(/\s+/g, " ")}`.trim()}\n${row}\n`
      : [],
  );
  return `>${makeName(identifier)}\n${alignment.query}\n${rows.join("")}`;
}
