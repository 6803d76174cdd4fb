import type { BatchSummary } from "../../inventory/api/route-history.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { formatCount, Time } from "../format.tsx";
import { call } from "../request.ts";
import { undo } from "./write-record.ts";

/** Recent changes, with person, time, and Undo or the reason why a change cannot be undone. */

/** The changes that a query of the API finds, the last first; they are read again when `state` changes. */
export function useRecentChanges(query: Record<string, string | undefined> | null, state = "") {
  return useLoaded(query && JSON.stringify([query, state]), (signal) =>
    call("GET /api/v2/batches/", { query: query!, signal }),
  );
}

export function ChangeList({ of, empty }: { of: ReturnType<typeof useRecentChanges>; empty: string }) {
  return (
    <Loaded of={of}>
      {({ results }) => (
        <ul class="list">
          {results.length === 0 && <li class="muted">{empty}</li>}
          {results.map((batch) => (
            <ChangeItem key={batch.id} batch={batch} onUndone={of.reload} />
          ))}
        </ul>
      )}
    </Loaded>
  );
}

const ChangeItem = ({ batch, onUndone }: { batch: BatchSummary; onUndone: () => void }) => (
  <li>
    <span class="grow">
      {batch.sentence}
      <small>
        <Time at={batch.at} />
        {batch.cannot_undo !== null && ` · ${batch.cannot_undo}`}
      </small>
    </span>
    {batch.cannot_undo === null && (
      <Button
        small
        icon="undo-2"
        aria-label={`Undo: ${batch.sentence}`}
        onClick={() => void undo(batch.id, onUndone)}
      >
        Undo
      </Button>
    )}
  </li>
);

/** Changes that the card of an overview shows. */
const SHOWN = 5;

/** The last changes of a week, for overviews. */
export function RecentChanges() {
  const changes = useRecentChanges({ since: "-7d", page_size: String(SHOWN) });
  const total = changes.value?.total;
  return (
    <Card
      title="Recent changes"
      count={total === undefined ? undefined : formatCount(total)}
      bare
      foot={<a href={href("/inventory/changes")}>All changes</a>}
    >
      <ChangeList of={changes} empty="Nothing was changed in the last 7 days." />
    </Card>
  );
}
