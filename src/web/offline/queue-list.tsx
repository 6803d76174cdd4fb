import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { pluralize, formatTime } from "../format.tsx";
import { pagePath } from "../inventory/declaration.ts";
import { deviceStore, sendWaiting } from "./device.ts";
import { moveText } from "./move.ts";
import { applyAnyway, type Change, discard, isAbout, type QueuedChange } from "./queue.ts";
import { announceQueue } from "./send-changes.ts";

/** Changes that wait for the network, and rejected ones, with possible actions. */
export function QueueList({ person, changes }: { person: string; changes: readonly QueuedChange[] }) {
  const decide = (work: typeof discard, key: string): Promise<void> =>
    withErrorToast(async () => {
      await work(deviceStore(), person, key);
      announceQueue();
      await sendWaiting();
    });
  /** Asks first where more than the change is discarded. */
  const discardChange = ({ key, change }: QueuedChange): void => {
    const about = change.kind === "start" ? change.stocktake : undefined;
    const all = about ? changes.filter((each) => isAbout(each.change, about.id)).length : 1;
    if (!about || all === 1) return void decide(discard, key);
    confirm({
      title: `Discard ${about.name}?`,
      text: `The ${pluralize(all - 1, "other change")} of this stocktake on this device will be discarded, too.`,
      verb: "Discard the stocktake",
      run: () => decide(discard, key),
    });
  };
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
              <small>{queued.conflict?.message ?? formatTime(queued.at)}</small>
              <div class="actions">
                {queued.conflict && (
                  <Button small onClick={() => void decide(applyAnyway, queued.key)}>
                    {queued.conflict.versions ? "Apply anyway" : "Try again"}
                  </Button>
                )}
                <Button look="quiet" small onClick={() => discardChange(queued)}>
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
  if ("records" in change) {
    const [{ segment, id }] = change.records;
    return (
      <a href={href(pagePath(segment, id))}>{change.kind === "move" ? moveText(change) : change.text}</a>
    );
  }
  const { stocktake } = change;
  return (
    <a href={href(`/inventory/stocktake/${stocktake.id}`)}>
      {change.kind === "start" && `Start ${stocktake.name}`}
      {change.kind === "scan" && `Scan of ${change.name ?? change.code} in ${stocktake.name}`}
      {change.kind === "remove" && `Remove the scan of ${change.name ?? change.code} from ${stocktake.name}`}
      {change.kind === "apply" && `Apply ${stocktake.name}`}
    </a>
  );
}
