import { useCallback, useEffect, useState } from "preact/hooks";

/** What was asked for, what came, and how to ask again. What came before stays until something else comes. */
export interface Loaded<T> {
  value: T | undefined;
  error: unknown;
  busy: boolean;
  reload: () => void;
}

/** Asks again whenever `key` changes; an answer that is no longer wanted is dropped. `null`: nothing is asked. */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, set] = useState<{ value?: T; error?: unknown; busy: boolean }>({ busy: key !== null });
  const [times, again] = useState(0);
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    set((before) => ({ ...before, busy: true }));
    load(stop.signal).then(
      (value) => !stop.signal.aborted && set({ value, busy: false }),
      (error: unknown) => !stop.signal.aborted && set((before) => ({ ...before, error, busy: false })),
    );
    return () => stop.abort();
  }, [key, times]);
  const reload = useCallback(() => again((count) => count + 1), []);
  return { value: state.value, error: state.error, busy: state.busy, reload };
}

/** Milliseconds between two looks. */
const INTERVAL = 2000;

/** Asks again every two seconds while somebody looks at the page. */
export function usePolling(reload: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, INTERVAL);
    return () => clearInterval(timer);
  }, []);
}
