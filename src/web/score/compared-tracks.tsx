import { useEffect, useMemo } from "preact/hooks";
import type { Comparison } from "../../scoring/index.ts";
import { findPartner } from "../../scoring/table/sequence-pairs.ts";
import { useQuery } from "../page.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import type { SideNames } from "./comparison.tsx";
import { useFeatures } from "./features.ts";
import { Position, PositionProvider, usePosition } from "./position.ts";
import { listMatches, readResult, type Result } from "./result.ts";
import { parseSpan } from "./track-geometry.ts";
import { ProteinTracks } from "./tracks.tsx";

type SideName = "a" | "b";

/** The tracks of both results, one above the other; a residue is marked in both. */
export function ComparedTracks(props: { comparison: Comparison; names: SideNames }) {
  const { a, b } = props.comparison;
  const results = useLoaded(`${a.job} ${b.job}`, (signal) =>
    Promise.all([readResult(a.job, signal), readResult(b.job, signal)]),
  );
  return <Loaded of={results}>{(both) => <LinkedTracks {...props} results={both} />}</Loaded>;
}

function LinkedTracks(props: {
  comparison: Comparison;
  names: SideNames;
  results: readonly [a: Result, b: Result];
}) {
  const { comparison, names, results } = props;
  const [query] = useQuery();
  const asked = query.get("match");
  const chosen = comparison.matches.find(
    ({ a, b }) => asked === `a${a?.number}` || asked === `b${b?.number}`,
  );
  const positions = useLinkedPositions(comparison, results);
  return (
    <div class="stack compared">
      {(["a", "b"] as const).map((side, i) => (
        <PositionProvider key={side} value={positions[side]}>
          <SideTracks {...{ side, chosen }} name={names[i]} result={results[i]} job={comparison[side].job} />
        </PositionProvider>
      ))}
    </div>
  );
}

/** Positions in both proteins, each of which follows the other; the address has the selected residue of the first. */
function useLinkedPositions(
  { pairing }: Comparison,
  [{ queryLength }, { queryLength: lengthB }]: readonly [Result, Result],
): Record<SideName, Position> {
  const blocks = pairing?.blocks ?? [];
  const a = usePosition(queryLength);
  const b = useMemo(() => {
    const select = (residue: number): void => {
      const partner = findPartner(blocks, residue, "b");
      if (partner !== null) a.select(partner);
    };
    return new Position(lengthB, select);
  }, [a]);
  useEffect(() => {
    let isFollowing = false;
    const follow = (from: Position, to: Position, side: SideName): (() => void) => {
      const partner = (residue: number | null) => residue && findPartner(blocks, residue, side);
      const update = (): void => {
        if (isFollowing) return;
        isFollowing = true;
        to.point(partner(from.pointed));
        if (side === "a") to.markSelected(partner(from.selected));
        isFollowing = false;
      };
      update();
      return from.subscribe(update);
    };
    const stops = [follow(a, b, "a"), follow(b, a, "b")];
    return () => stops.forEach((stop) => stop());
  }, [a, b]);
  return { a, b };
}

/** The tracks of one result; its part in view is in the address. */
function SideTracks(props: {
  side: SideName;
  name: string;
  job: string;
  result: Result;
  chosen: Comparison["matches"][number] | undefined;
}) {
  const { side, name, job, result, chosen } = props;
  const [query, setQuery] = useQuery();
  const known = useFeatures(job).value;
  const matches = useMemo(() => listMatches(result, known?.notes), [result, known]);
  const ends = side === "a" ? (["from", "to"] as const) : (["from_b", "to_b"] as const);
  return (
    <ProteinTracks
      {...{ result, matches, name }}
      known={known?.features}
      pLddt={null}
      fileName={`${result.identifier || "protein"}-${side}`}
      span={parseSpan(query, result.queryLength, ends)}
      selected={matches[(chosen?.[side]?.number ?? 0) - 1]}
      onSelect={(number) => setQuery({ match: `${side}${number}` }, { replace: true })}
      onSpan={(span) => setQuery({ [ends[0]]: span?.from, [ends[1]]: span?.to }, { replace: true })}
    />
  );
}
