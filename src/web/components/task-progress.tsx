import { useEffect } from "preact/hooks";
import { call } from "../request.ts";
import { useFollowed } from "./follow.ts";
import { withErrorToast } from "./toast.tsx";
import { Button } from "./button.tsx";
import { Progress } from "./progress.tsx";

/**
 * Work on the server that has not ended: its progress, and a button with which its owner cancels it. Jobs, searches,
 * builds, imports, batches and tasks of administrators look the same.
 */
export function TaskProgress(props: {
  /** The name of the task, for screen readers; shown before the message if `isNamed`. */
  name: string;
  isNamed?: boolean;
  /** The current step. */
  message: string;
  /** Progress from 0 to 1; undefined if the end is unknown. */
  fraction?: number | null | undefined;
  /** True if it waits for its turn. */
  isWaiting?: boolean;
  /** True if it goes on without the page, which can be closed. */
  isShared?: boolean;
  /** Absent for users who may not cancel it. */
  onCancel?: (() => Promise<unknown>) | undefined;
}) {
  const { name, isNamed = false, message, fraction, isWaiting = false, isShared = false, onCancel } = props;
  const label = isNamed ? `${name}: ${message}` : message;
  const cancel = (): Promise<void> => withErrorToast(async () => void (await onCancel?.()));
  return (
    <section class="card card-body" aria-label={name}>
      <div class="row between">
        <div class="grow">
          {isWaiting ? (
            <p role="status">{label}</p>
          ) : (
            <Progress label={label} fraction={fraction ?? undefined} />
          )}
        </div>
        {onCancel && (
          <Button small aria-label={isNamed ? `Cancel ${name}` : undefined} onClick={() => void cancel()}>
            Cancel
          </Button>
        )}
      </div>
      {isShared && <p class="hint">You can close this page and return to its address later.</p>}
    </section>
  );
}

/** A running task of any kind with its name, followed by its events; `onEnd` is called when it has ended. */
export function FollowedTask(props: {
  id: string;
  name: string;
  /** Its state before the first event. */
  message: string;
  fraction?: number | null | undefined;
  onEnd: () => void;
}) {
  const { id, name, onEnd } = props;
  const { value } = useFollowed(id, {
    load: (signal) => call("GET /api/tasks/:id", { params: { id }, signal }),
    events: `/api/tasks/${id}/events`,
    hasEnded: ({ ended }) => ended !== null,
  });
  const hasEnded = value != null && value.ended !== null;
  useEffect(() => {
    if (hasEnded) onEnd();
  }, [hasEnded]);
  const { message, fraction } = value ?? props;
  return (
    <TaskProgress
      name={name}
      isNamed
      message={message}
      fraction={fraction || null}
      onCancel={() => call("DELETE /api/tasks/:id", { params: { id } })}
    />
  );
}
