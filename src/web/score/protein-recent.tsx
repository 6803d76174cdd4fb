import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { LinkButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { capitalized, formatDate, pluralize, Time } from "../format.tsx";
import type { Protein, ProteinJob, ProteinMatch } from "./protein.ts";
import { countVerdicts } from "./result.ts";

/** Motifs from which on a job is a scan. */
const SCAN = 10;

/** The results of the caller that are kept, the newest first. */
export function ProteinRecent(props: {
  of: Protein;
  /** Matches of each job; undefined before they are loaded. */
  byJob: ReadonlyMap<string, readonly ProteinMatch[]> | undefined;
}) {
  const { protein, results, more } = props.of;
  return (
    <Card title="Recent" count={results.length > 0 ? `${results.length}${more ? "+" : ""}` : undefined} bare>
      <ul class="list">
        {results.map((job) => (
          <Result key={job.id} of={job} matches={props.byJob?.get(job.id)} />
        ))}
        {results.length === 0 && (
          <li>
            <span class="grow">Your results of this protein appear here for as long as they are kept.</span>
            <LinkButton small href={href("/scan", { protein: protein.accession })}>
              Scan for all motif classes
            </LinkButton>
          </li>
        )}
      </ul>
    </Card>
  );
}

/** A fact as a sentence. */
const sentence = (text: string | false | null | undefined): string =>
  text ? `${capitalized(text).replace(/\.$/, "")}.` : "";

function Result({ of: job, matches }: { of: ProteinJob; matches: readonly ProteinMatch[] | undefined }) {
  const { id, state, motifs, motifCount, variant, hasOwnAlignment, submitted, expires } = job;
  const isScan = motifCount > SCAN;
  const title = motifCount > motifs.length ? pluralize(motifCount, "motif") : motifs.join(", ");
  const facts = [
    variant && `variant ${variant}`,
    hasOwnAlignment && "own alignment",
    state === "finished" ? variant === null && matches && countVerdicts(matches) : state,
    expires && `kept until ${formatDate(expires)}`,
  ];
  return (
    <li>
      <Icon name={isScan ? "scan-search" : "crosshair"} />
      <span class="grow">
        <a href={href(`/${isScan ? "scan" : "score"}/${id}`)}>{title}</a>
        <small>{facts.filter(Boolean).map(sentence).join(" ")}</small>
      </span>
      <span class="end">
        <small>
          <Time at={submitted} short />
        </small>
      </span>
    </li>
  );
}
