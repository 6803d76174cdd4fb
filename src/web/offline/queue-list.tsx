import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatTime } from "../format.tsx";
import { pageOf } from "../inventory/declaration.ts";
import { deviceStore, sendWaiting } from "./device.ts";
import { applyAnyway, type Change, discard, type QueuedChange } from "./queue.ts";
import { announceQueue } from "./send-changes.ts";

/** Changes that wait for the network, and those that the server rejected, with what can be done about them. */
export function QueueList({ person, changes }: { person: string; changes: readonly QueuedChange[] }) {
  const decide = (work: typeof discard, key: string): Promise<void> =>
    withErrorToast(async () => {
      await work(deviceStore(), person, key);
      announceQueue();
      await sendWaiting();
    });
  return (
    <Card
      title="Changes to send"
      count={changes.length}
      bare
      actions={
        changes.length > 0 && (
          <Button small onClick={() => void withErrorToast(sendWaiting)}>
            Send now
          </Button>
        )
      }
    >
      <ul class="list">
        {changes.length === 0 && <li class="muted">Everything has been sent.</li>}
        {changes.map((queued) => (
          <li key={queued.key}>
            <div class="grow">
              <Tag tone={queued.conflict ? "danger" : "warn"}>{queued.conflict ? "conflict" : "waiting"}</Tag>{" "}
              <Description change={queued.change} />
              <small>{detailOf(queued)}</small>
              <div class="actions">
                {queued.conflict && (
                  <Button small onClick={() => void decide(applyAnyway, queued.key)}>
                    {queued.conflict.now ? "Apply anyway" : "Try again"}
                  </Button>
                )}
                <Button look="quiet" small onClick={() => void decide(discard, queued.key)}>
                  Discard
                </Button>
              </div>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The change in words, as a link to its record or stocktake. */
function Description({ change }: { change: Change }) {
  if (change.kind === "move") {
    const { segment, id, name, location, position } = change;
    const where = [location.name, position].filter(Boolean).join(", ");
    return (
      <a href={href(pageOf(segment, id))}>
        Move {name} to {where}
      </a>
    );
  }
  const { stocktake, code, name } = change;
  return (
    <a href={href(`/inventory/stocktake/${stocktake.id}`)}>
      Scan of {name ?? code} in {stocktake.name}
    </a>
  );
}

function detailOf({ at, conflict }: QueuedChange): string {
  if (!conflict) return formatTime(at);
  const { now, message } = conflict;
  return now ? `${now.by} has changed it. It is now in ${now.where}.` : message;
}
