import type { AdministrationTask } from "../../operations/administration/tasks.ts";
import { Banner } from "../components/banner.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { FollowedTask } from "../components/task-progress.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { Time } from "../format.tsx";
import { type Answer, ApiError, call } from "../request.ts";

/** Work that runs on the server. */
export type Task = Answer<"GET /api/admin/tasks/:id">;

/** The kinds of tasks that a page shows. */
export type TaskKinds = readonly AdministrationTask[];

/** The tasks of some kinds, newest first; `onEnd` is for the list of them, which follows those that run. */
export function useTasks(kinds: TaskKinds | undefined, onEnd: () => void) {
  const { value, reload } = useLoaded(kinds ? "tasks" : null, (signal) =>
    call("GET /api/admin/tasks", { signal }),
  );
  const tasks = (value?.results ?? []).filter(({ kind }) => kinds?.includes(kind));
  const startTask = (start: () => Promise<unknown>): void => void withErrorToast(start).then(reload);
  const taskEnded = (): void => {
    reload();
    onEnd();
  };
  return { tasks, startTask, watchTasks: reload, taskEnded };
}

/** Sends a file; the server reports progress as a task while it arrives. */
export async function sendFile(
  file: File | null,
  watchTasks: () => void,
  upload: (file: File) => Promise<unknown>,
): Promise<void> {
  if (!file) throw new ApiError(400, "invalid_request", "", { fields: { file: ["Choose a file."] } });
  const timer = setInterval(watchTasks, 1000);
  try {
    await upload(file);
  } finally {
    clearInterval(timer);
    watchTasks();
  }
}

const TONE = { done: "ok", failed: "danger", cancelled: "warn" } as const;

/** The newest tasks: progress while they run, then the outcome. */
export function TaskList({ tasks, onEnd }: { tasks: readonly Task[]; onEnd: () => void }) {
  if (tasks.length === 0) return null;
  return (
    <div aria-live="polite" class="stack">
      {tasks.slice(0, 3).map(({ id, title, subject, by, state, said, fraction, ended }) => {
        const name = [title, subject].filter(Boolean).join(" ");
        return state === "running" ? (
          <FollowedTask key={id} id={id} name={name} message={said} fraction={fraction} onEnd={onEnd} />
        ) : (
          <Banner key={id} tone={TONE[state]}>
            <strong>{name}:</strong> {said} {by}, <Time at={ended} />
          </Banner>
        );
      })}
    </div>
  );
}
