import type { Provenance } from "../../scoring/index.ts";
import { Card } from "../components/layout.tsx";
import { formatCount } from "../format.tsx";
import { CopyButton } from "./downloads.tsx";

/** The parts of a provenance that a citation names. */
export type Cited = Pick<
  Provenance,
  "labd" | "date" | "method" | "model" | "corpus" | "corpus_sha256" | "corpus_proteins"
>;

const CHICA =
  "Chica C, Labarga A, Gould CM, López R, Gibson TJ (2008). A tree-based conservation scoring method for short linear motifs in multiple alignments of protein sequences. BMC Bioinformatics 9:229.";
const ELM =
  "Kumar M, Michael S, Alvarado-Valverde J, et al. (2024). ELM: the Eukaryotic Linear Motif resource. Nucleic Acids Research 52:D442–D455.";

/** Names of ELM's classes begin with their type. */
const isElmClass = (name: string): boolean => /^(CLV|DEG|DOC|LIG|MOD|TRG)_/.test(name);

/** The publications to cite, labd first. @param motifs names of motif classes, and expressions */
export function listCitations(of: Cited, motifs: readonly string[]): string[] {
  const { labd, date, method, model, corpus, corpus_sha256: hash, corpus_proteins: proteins } = of;
  const how = [method && `method ${method}`, model && `${model} model`].filter(Boolean).join(", ");
  const searched =
    corpus === undefined
      ? ""
      : ` Homologs from ${corpus}${proteins === undefined ? "" : `, ${formatCount(proteins)} proteins`}${hash === undefined ? "" : `, SHA-256 ${hash.slice(0, 12)}`}.`;
  return [
    `labd ${labd}${how && ` (${how})`}, conservation scoring of short linear motifs.${searched} Scored on ${date}.`,
    CHICA,
    ...(motifs.some(isElmClass) ? [ELM] : []),
  ];
}

/** How to cite a result, with a button that copies it; nothing if its provenance is not known. */
export function HowToCite({ of, motifs }: { of: Cited | undefined; motifs: readonly string[] }) {
  if (of === undefined) return null;
  const citations = listCitations(of, motifs);
  return (
    <Card title="How to cite" actions={<CopyButton text={citations.join("\n")} done="Citations copied." />}>
      <ul class="bullets">
        {citations.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Card>
  );
}

/** The citation of a document, whose method, model and corpus are fields of its own. */
export const citedIn = ({
  provenance,
  method,
  model,
  corpus,
}: {
  provenance?: Provenance;
  method: string;
  model?: Provenance["model"];
  corpus: { name: string; hash: string; sequences: number } | null;
}): Cited | undefined =>
  provenance && {
    ...provenance,
    method,
    model: model ?? provenance.model,
    corpus: corpus?.name,
    corpus_sha256: corpus?.hash,
    corpus_proteins: corpus?.sequences,
  };
