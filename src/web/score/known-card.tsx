import { DataLink } from "../components/data-link.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { Table } from "../components/table.tsx";
import { formatCount, pluralize } from "../format.tsx";
import {
  type Feature,
  featuresAt,
  flaggedTexts,
  GROUPS,
  placeText,
  type ResultFeatures,
} from "./features.ts";
import type { NumberedMatch } from "./result.ts";

/** Features at a match that are listed. */
const MAX_LISTED = 12;

/** Imported features of the selected match, and of the whole protein as a table. */
export function KnownCard({ known, match }: { known: ResultFeatures | undefined; match: NumberedMatch }) {
  if (!known) return null;
  const notes = known.notes[match.number - 1];
  const flagged = flaggedTexts(known);
  const isEmpty = known.features.length === 0 && flagged.length === 0 && !notes?.sentence;
  if (isEmpty) return null;
  const isInstance = ({ id, start }: Feature): boolean =>
    notes?.instances.some((one) => one.id === id && one.start === start) ?? false;
  // Instances of the motif first.
  const at = featuresAt(known.features, { from: match.start, to: match.end }).toSorted(
    (a, b) => Number(isInstance(b)) - Number(isInstance(a)),
  );
  return (
    <Card
      title={`Known at ${match.start}–${match.end}`}
      bare
      foot={
        <>
          {flagged.map((text) => (
            <p key={text} class="hint">
              {text}
            </p>
          ))}
          {known.features.length > 0 && <AllFeatures known={known} />}
        </>
      }
    >
      {notes?.sentence && <p class="known-sentence">{notes.sentence}</p>}
      {at.length > 0 ? (
        <ul class="list">
          {at.slice(0, MAX_LISTED).map((feature, i) => (
            <KnownItem key={i} {...{ feature, match }} isInstance={isInstance(feature)} />
          ))}
          {at.length > MAX_LISTED && (
            <li class="hint">And {formatCount(at.length - MAX_LISTED)} more, in the table below.</li>
          )}
        </ul>
      ) : (
        !notes?.sentence && (
          <Empty title="Nothing is known at this match">
            <p>
              The imported files have {formatCount(known.features.length)} other features of this protein.{" "}
              <DataLink />
            </p>
          </Empty>
        )
      )}
    </Card>
  );
}

function KnownItem(props: { feature: Feature; match: NumberedMatch; isInstance: boolean }) {
  const { feature, match, isInstance } = props;
  const { group, name, type, id, source, logic, structures = [] } = feature;
  const facts = [
    id !== "" && !name.startsWith(id) && id,
    logic !== "true positive" && logic,
    structures.length > 0 && `PDB ${structures.join(", ")}`,
    source,
    distance(feature, match),
  ];
  return (
    <li>
      <span class="grow">
        <b>{name || type}</b> {placeText(feature)}
        <small class="second-line">{facts.filter(Boolean).join(", ")}</small>
      </span>
      <Tag tone={isInstance && logic === "true positive" ? "ok" : undefined}>
        {isInstance ? "Same motif" : GROUPS[group].name}
      </Tag>
    </li>
  );
}

/** The distance of a feature from the match. */
function distance({ start, end }: Feature, match: NumberedMatch): string {
  const before = match.start - end;
  const after = start - match.end;
  const separation = Math.max(before, after);
  if (separation <= 0) return "";
  return `${separation === 1 ? "1 residue" : `${separation} residues`} ${before > 0 ? "before" : "after"} the match`;
}

/** Every feature of the protein, also for users who do not see the tracks. */
export const AllFeatures = ({
  known: { protein, features },
}: {
  known: Pick<ResultFeatures, "protein" | "features">;
}) => (
  <details>
    <summary>
      {pluralize(features.length, "feature")} of {protein}
    </summary>
    <Table
      caption={`Features of ${protein}`}
      rows={features.toSorted((a, b) => a.start - b.start || b.end - a.end)}
      first={{ rows: 50, of: "features" }}
      rowKey={(feature) => features.indexOf(feature)}
      columns={[
        { name: "name", title: "Feature", heading: true, cell: ({ name, type }) => name || type },
        { name: "place", title: "Residues", numeric: true, cell: placeText },
        { name: "group", title: "Group", cell: ({ group }) => GROUPS[group].name },
        {
          name: "id",
          title: "Identifier",
          cell: ({ id, logic }) => [id, logic].filter(Boolean).join(", ") || "–",
        },
        { name: "source", title: "Source", cell: ({ source }) => source },
      ]}
    />
  </details>
);
