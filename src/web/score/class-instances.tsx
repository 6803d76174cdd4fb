import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { useLoaded, useReloadUntil } from "../components/loaded.tsx";
import { type Column, Table } from "../components/table.tsx";
import { formatCount } from "../format.tsx";
import { type Answer, call } from "../request.ts";
import { isOver, type Match } from "./proteome.ts";
import { proteinHref, ProteinCell } from "./protein-identity.tsx";
import { Grade, Kept } from "./verdict.tsx";

/** A motif class with its known instances. */
export type ClassDetails = Answer<"GET /api/scoring/motif-classes/:name">;
type Instance = ClassDetails["results"][number];

/** The logic of instances that experiments confirm. */
const KNOWN = "true positive";
/** Milliseconds between requests while the instances are scored. */
const POLL = 1000;

/** The known instances of a class in proteins of the corpus, with the scores of the matches there. */
export function ClassInstances({ of: { motifClass, instances, results } }: { of: ClassDetails }) {
  const { name, model } = motifClass;
  const scored = useLoaded(name, (signal) =>
    call("GET /api/scoring/motif-classes/:name/matches", { params: { name }, signal }),
  );
  useReloadUntil(scored, isOver, POLL);
  const matches = scored.value?.results ?? [];
  const matchAt = (one: Instance): Match | undefined => matches.find((match) => coincide(match, one));
  const order = new Map(results.map((one, i) => [one, matchAt(one)?.overallPValue ?? 1 + i]));
  const isScoring = scored.error === undefined && !(scored.value && isOver(scored.value));
  return (
    <Card
      title="Known instances"
      count={`${formatCount(instances)} in the corpus`}
      bare
      foot={
        <small role="status">
          {isScoring
            ? "The instances are being scored."
            : scored.error !== undefined || scored.value?.state !== "finished"
              ? "Not scored: the homologs of these proteins are not known yet."
              : model
                ? "Scored as in results, by a model that was learned from them."
                : "Scored as in results."}
          {instances > results.length && ` The first ${results.length} are shown.`}
        </small>
      }
    >
      <Table
        caption="Known instances"
        columns={columns(matchAt)}
        rows={results.toSorted((a, b) => order.get(a)! - order.get(b)!)}
        rowKey={({ protein, feature }) => `${protein.accession} ${feature.start} ${feature.id}`}
        first={{ rows: 50, of: "instances" }}
        hideEmpty
      />
    </Card>
  );
}

/** True if a match and an instance overlap by half of the shorter one. */
function coincide(match: Match, { protein, feature: { start, end } }: Instance): boolean {
  const shared = Math.min(match.end, end) - Math.max(match.start, start) + 1;
  const shorter = Math.min(match.end - match.start, end - start) + 1;
  return match.protein.accession === protein.accession && 2 * shared >= shorter;
}

const columns = (matchAt: (one: Instance) => Match | undefined): readonly Column<Instance>[] => [
  {
    name: "protein",
    title: "Protein",
    heading: true,
    cell: ({ protein }) => (
      <a href={proteinHref(protein)}>
        <ProteinCell identifier={protein.gene ?? protein.entryName ?? protein.accession} of={protein} />
      </a>
    ),
  },
  {
    name: "source",
    title: "Accession, source",
    phone: "hide",
    cell: ({ protein, feature: { source, id, logic = KNOWN } }) => (
      <>
        {protein.accession}
        <small class="second-line">{[source, id, logic !== KNOWN && logic].filter(Boolean).join(", ")}</small>
      </>
    ),
  },
  {
    name: "match",
    title: "Match",
    phone: "line",
    cell: ({ before, text, after, feature: { start, end } }) => (
      <>
        <code>
          <span class="muted">{before}</span>
          <b>{text}</b>
          <span class="muted">{after}</span>
        </code>
        <small class="second-line">
          {start}–{end}
        </small>
      </>
    ),
  },
  {
    name: "kept",
    title: "In homologs",
    phone: "line",
    cell: (one) => {
      const match = matchAt(one);
      return match && <Kept match={match} />;
    },
  },
  {
    name: "p",
    title: "P",
    numeric: true,
    phone: "end",
    cell: (one) => {
      const match = matchAt(one);
      return (
        match && (
          <a href={href("/score", { protein: one.protein.accession, class: match.motif })}>
            <Grade match={match} />
          </a>
        )
      );
    },
  },
];
