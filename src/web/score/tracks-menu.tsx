import { Menu } from "../components/menu.tsx";
import { Checkbox } from "../components/field.tsx";
import { useQuery } from "../page.tsx";

/** A track that can be switched on and off. */
export interface TrackChoice {
  name: string;
  /** Name of the track in the address. */
  key: string;
  /** True if it is shown unless people choose otherwise. */
  shown: boolean;
}

/** The chosen tracks; the address has differences from the default. */
export function useTrackChoice(): {
  isShown: (track: TrackChoice) => boolean;
  toggle: (key: string) => void;
} {
  const [query, setQuery] = useQuery();
  const changed = (query.get("tracks") ?? "").split(",").filter(Boolean);
  return {
    isShown: ({ key, shown }) => changed.includes(key) !== shown,
    toggle(key) {
      const left = changed.filter((one) => one !== key);
      const next = left.length < changed.length ? left : changed.concat(key);
      setQuery({ tracks: next.length === 0 ? null : next.join(",") }, { replace: true });
    },
  };
}

/** Switches tracks on and off. */
export function TracksMenu({ tracks }: { tracks: readonly TrackChoice[] }) {
  const { isShown, toggle } = useTrackChoice();
  return (
    <Menu label="Tracks" text small icon="layers">
      <div class="track-choices" role="group" aria-label="Tracks">
        {tracks.map((track) => (
          <Checkbox
            key={track.key}
            label={track.name}
            checked={isShown(track)}
            onChange={() => toggle(track.key)}
          />
        ))}
      </div>
    </Menu>
  );
}
