import { useResidue } from "./position.ts";
import { readTrack, type Track } from "./track-drawings.tsx";

/** The residue to which the pictures point, with what each track says of it. */
export function Readout({ sequence, tracks }: { sequence: string | undefined; tracks: readonly Track[] }) {
  const residue = useResidue();
  const read = residue === null ? [] : tracks.map((track) => [track.label, readTrack(track, residue)]);
  return (
    <p class="readout screen" role="status" hidden={residue === null}>
      {residue !== null && (
        <b>
          {sequence?.[residue - 1]}
          {residue}
        </b>
      )}
      {read.map(
        ([label, text], i) =>
          text && (
            <span key={i}>
              <small>{label}</small> {text}
            </span>
          ),
      )}
    </p>
  );
}
