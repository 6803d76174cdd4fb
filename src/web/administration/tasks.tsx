import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Progress } from "../components/progress.tsx";
import { requestJson, get } from "../request.ts";
import { Time } from "../format.tsx";

/** Work that runs on the server, as GET /api/admin/tasks tells of it. */
export interface Task {
  id: string;
  kind: string;
  subject: string;
  by: string;
  state: "running" | "done" | "failed" | "cancelled";
  started: string;
  ended: string | null;
  said: string;
  fraction: number | null;
  result: unknown;
}

const INTERVAL = 700;

/**
 * The tasks of these kinds. They are asked for while one runs, and while `expect` says that one is about to; `onEnd` is
 * called when one has ended.
 */
export function useTasks(
  kinds: readonly string[],
  onEnd: () => void,
): { tasks: Task[]; watch: () => void; busy: boolean } {
  const [tasks, setTasks] = useState<Task[]>([]);
  const running = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const ended = useRef(onEnd);
  ended.current = onEnd;
  const look = useCallback(async (): Promise<void> => {
    clearTimeout(timer.current);
    try {
      const { results } = await get<{ results: Task[] }>("/api/admin/tasks");
      const own = results.filter(({ kind }) => kinds.includes(kind));
      setTasks(own);
      const now = new Set(own.filter(({ state }) => state === "running").map(({ id }) => id));
      const isOver = [...running.current].some((id) => !now.has(id));
      running.current = now;
      if (isOver) ended.current();
      if (now.size > 0) timer.current = setTimeout(() => void look(), INTERVAL);
    } catch {
      // Whoever may not see tasks is told by what else the page asks for; who cannot now, asks again.
      if (running.current.size > 0) timer.current = setTimeout(() => void look(), 5 * INTERVAL);
    }
  }, []);
  useEffect(() => {
    void look();
    return () => clearTimeout(timer.current);
  }, []);
  return { tasks, watch: () => void look(), busy: tasks.some(({ state }) => state === "running") };
}

/** How far the newest tasks are, and what became of them. */
export function TaskList({
  tasks,
  nameOf,
  watch,
}: {
  tasks: readonly Task[];
  nameOf: (task: Task) => string;
  watch: () => void;
}) {
  const cancel = async (id: string): Promise<void> => {
    try {
      await requestJson("DELETE", `/api/admin/tasks/${id}`);
    } catch (error) {
      showToast((error as Error).message, "error");
    }
    watch();
  };
  return (
    <div aria-live="polite" class="stack">
      {tasks.slice(0, 3).map((task) =>
        task.state === "running" ? (
          <section key={task.id} class="card" aria-label={nameOf(task)}>
            <Progress
              label={`${nameOf(task)}: ${task.said}`}
              fraction={task.fraction === null || task.fraction === 0 ? undefined : task.fraction}
            />
            <Button look="quiet" onClick={() => void cancel(task.id)}>
              Call it off
            </Button>
          </section>
        ) : (
          <p key={task.id} class={task.state === "failed" ? "failure" : "note"}>
            <span class={`tag ${TONE[task.state]}`}>{task.state}</span> <strong>{nameOf(task)}:</strong>{" "}
            {task.said}{" "}
            <small>
              {task.by}, <Time at={task.ended} />
            </small>
          </p>
        ),
      )}
    </div>
  );
}

const TONE = { running: "", done: "good", failed: "bad", cancelled: "warn" };
