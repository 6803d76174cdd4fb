import type { Feature, FeatureGroup, Flag, MatchNotes, ResultFeatures } from "../../scoring/index.ts";
import { type Loadable, useLoaded } from "../components/loaded.tsx";
import { pluralize, listFirst } from "../format.tsx";
import { call } from "../request.ts";
import type { Span } from "./track-geometry.ts";

export type { Feature, FeatureGroup, MatchNotes, ResultFeatures };

/** Groups of features in the order of tracks; `shown` unless people choose otherwise. */
export const GROUPS: Readonly<Record<FeatureGroup, { name: string; shown: boolean }>> = {
  domain: { name: "Domains", shown: true },
  ptm: { name: "Modifications", shown: true },
  motif: { name: "Known motifs", shown: true },
  signal: { name: "Signal peptides", shown: true },
  transmembrane: { name: "Membrane", shown: true },
  variant: { name: "Variants", shown: true },
  site: { name: "Sites", shown: true },
  region: { name: "Regions", shown: false },
  structure: { name: "Structures", shown: false },
  location: { name: "Locations", shown: false },
  other: { name: "Other features", shown: false },
};
export const GROUP_ORDER = Object.keys(GROUPS) as FeatureGroup[];

const FLAGS: Readonly<Record<Flag, string>> = {
  sequence: "belong to another sequence of this protein",
  isoform: "belong to an isoform",
  version: "belong to another version of this protein",
  length: "end after the last residue",
};

/** Why features of the protein are not shown, as sentences. */
export const flaggedTexts = ({ flagged }: ResultFeatures): string[] =>
  Object.entries(flagged).map(
    ([flag, count]) => `${pluralize(count, "feature")} not shown: ${FLAGS[flag as Flag]}.`,
  );

/** Features of a result; null while the job has not finished. */
export const useFeatures = (job: string | null): Loadable<ResultFeatures> =>
  useLoaded(job && `${job} features`, (signal) =>
    call("GET /api/scoring/jobs/:id/features", { params: { id: job! }, signal }),
  );

/** `102–292`, or `15` for one residue. */
export const placeText = ({ start, end }: Pick<Feature, "start" | "end">): string =>
  start === end ? String(start) : `${start}–${end}`;

/** The first words of a name, without its particulars: `Phosphoserine; by ATM` is `Phosphoserine`. */
export const shortName = ({ name, type }: Feature): string => (name || type).split(/[;,(]/, 1)[0].trim();

/** A feature in words. */
export const featureText = (feature: Feature): string => {
  const { name, type, id, source, logic } = feature;
  const about = [id !== name && id, logic !== "true positive" && logic, source].filter(Boolean).join(", ");
  return `${name || type} ${placeText(feature)}${about === "" ? "" : ` (${about})`}`;
};

/** Features that a track's text names. */
const NAMED = 12;

/** A group in words, for users who do not see its track. */
export function groupText(group: FeatureGroup, features: readonly Feature[]): string {
  const names = features.map((one) => `${shortName(one)} ${placeText(one)}`);
  return `${GROUPS[group].name}: ${listFirst(names, NAMED)}`;
}

/** Lanes of a track; features beyond share the last. */
const MAX_LANES = 3;

/** Puts features that overlap into lanes, longest first in each place. */
export function inLanes(features: readonly Feature[]): (Feature & { lane: number })[] {
  const ends: number[] = [];
  return features
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .map((feature) => {
      const free = ends.findIndex((end) => end < feature.start);
      const lane = free >= 0 ? free : Math.min(ends.length, MAX_LANES - 1);
      ends[lane] = Math.max(ends[lane] ?? 0, feature.end);
      return Object.assign({ lane }, feature);
    });
}

/** Number of residues next to a match in which modifications are listed. */
const NEAR_RESIDUES = 5;

/** Features that overlap a match, and modifications near it, in the order of the groups. */
export const featuresAt = (features: readonly Feature[], { from, to }: Span): Feature[] => {
  const reach = ({ group }: Feature): number => (group === "ptm" ? NEAR_RESIDUES : 0);
  return (
    features
      .filter((one) => one.end >= from - reach(one) && one.start <= to + reach(one))
      // A location is of the whole protein.
      .filter(({ group }) => group !== "location")
      .toSorted(
        (a, b) =>
          GROUP_ORDER.indexOf(a.group) - GROUP_ORDER.indexOf(b.group) || a.start - b.start || b.end - a.end,
      )
  );
};
