import type { ComponentChildren } from "preact";
import type { FreeSlots as Free } from "../../inventory/api/route-slots.ts";
import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { Meter } from "../components/progress.tsx";
import { formatCount } from "../format.tsx";
import { call } from "../request.ts";
import { pagePath } from "./declaration.ts";

/** The free slots in a place, piece of equipment or location, and inside it; undefined if nothing there has slots. */
export function useFreeSlots(segment: string, id: string): Free | undefined {
  const found = useLoaded(id === "" ? null : `${segment} ${id}`, (signal) =>
    call("GET /api/v2/:list/:id/free_slots/", { params: { list: segment, id }, query: { count: 1 }, signal }),
  );
  return id !== "" && found.value && found.value.capacity > 0 ? found.value : undefined;
}

/** The occupancy of a place that has slots, with the first free one where it is known. */
export function Capacity(props: {
  space: (Pick<Free, "capacity" | "used" | "free"> & Partial<Pick<Free, "next">>) | null | undefined;
  /** After the number of free slots. */
  children?: ComponentChildren;
}) {
  const { space, children } = props;
  if (!space) return null;
  const { used, capacity, free, next } = space;
  const text = `${formatCount(used)} of ${formatCount(capacity)}`;
  return (
    <div class="capacity">
      <div class="row between">
        <span>
          <strong>{text}</strong> slots in use
        </span>
        <span class="muted">
          {formatCount(free)} free{children}
        </span>
      </div>
      <Meter label={`${text} slots in use`} share={used / capacity} />
      {next && (
        <p>
          Next free slot:{" "}
          <a href={href(pagePath("locations", next.location.id))}>
            {[next.location.unique_path, next.position].filter((word) => word !== "").join(", ")}
          </a>
        </p>
      )}
    </div>
  );
}
