import { useMemo } from "preact/hooks";
import type { Place } from "../../scoring/table/places.ts";
import { useQuery } from "../page.tsx";
import type { Feature } from "./features.ts";
import { PositionProvider, usePosition } from "./position.ts";
import type { NumberedMatch } from "./result.ts";
import type { ClassName, Scan, ScanMatch } from "./scan.ts";
import { parseSpan } from "./track-geometry.ts";
import { ProteinTracks } from "./tracks.tsx";

/** Features, predictions, and the listed places along the protein. */
export function ScanOverview(props: {
  scan: Scan;
  places: readonly Place<ScanMatch>[];
  findClass: (motif: string) => ClassName;
  fileName: string;
  /** Imported features of the protein. */
  known: readonly Feature[] | undefined;
}) {
  const { scan, places, findClass, known, fileName } = props;
  const [query, setQuery] = useQuery();
  const result = useMemo(() => {
    const { queryLength, query = "", disorder, order = [], conservation = [] } = scan;
    const homologs = Array.from({ length: scan.homologs });
    return { queryLength, homologs, patterns: [], alignment: { query, disorder, order, conservation } };
  }, [scan]);
  const lanes = useMemo(() => {
    const nameOf = (motif: string): string => findClass(motif).name;
    return [{ kind: "places" as const, label: "Matches", note: "height −log10 P", places, nameOf }];
  }, [places, findClass]);
  const matches = useMemo(() => places.map(({ best }) => best as unknown as NumberedMatch), [places]);
  return (
    <PositionProvider value={usePosition(scan.queryLength)}>
      <ProteinTracks
        {...{ result, lanes, matches, known, fileName }}
        pLddt={null}
        span={parseSpan(query, scan.queryLength)}
        selected={undefined}
        onSelect={() => {}}
        onSpan={(span) => setQuery({ from: span?.from, to: span?.to }, { replace: true })}
      />
    </PositionProvider>
  );
}
