import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { ErrorBanner } from "./banner.tsx";

/** Data of a page. The last value stays while it is loaded again. */
export interface Loadable<T> {
  value: T | undefined;
  error: unknown;
  busy: boolean;
  reload: () => void;
  /** Replaces the value by one that a write has returned, without a request. */
  update: (change: (value: T) => T) => void;
}

/** Loads whenever `key` changes, and not at all while it is null; an answer that comes too late is dropped. */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loadable<T> {
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
  const update = useCallback(
    (change: (value: T) => T) =>
      set((before) => (before.value === undefined ? before : { value: change(before.value), busy: false })),
    [],
  );
  return { value: state.value, error: state.error, busy: state.busy, reload, update };
}

/** Waits, such as until nobody has typed for a while. @throws AbortError if `signal` ends it */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    setTimeout(() => (signal.aborted ? reject(signal.reason) : resolve()), milliseconds);
  });

/** Milliseconds after an error, such as of a server that restarts. */
const RETRY = 3000;

/** Loads again after `milliseconds` for as long as the value is not final. */
export function useReloadUntil<T>(
  { value, error, reload }: Loadable<T>,
  isFinal: (value: T) => boolean,
  milliseconds: number,
): void {
  useEffect(() => {
    if (value === undefined || isFinal(value)) return;
    const timer = setTimeout(reload, error === undefined ? milliseconds : RETRY);
    return () => clearTimeout(timer);
  }, [value, error]);
}

/** Loads again every `seconds` while the page is visible. */
export function usePolling(reload: () => void, seconds = 2): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
}

/** Content that depends on loaded data: first a skeleton until it is there, an error with a way to try again, then the content. */
export function Loaded<T>(props: { of: Loadable<T>; children: (value: T) => ComponentChildren }) {
  const { value, error, reload } = props.of;
  return (
    <>
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value !== undefined && props.children(value)}
      {value === undefined && error === undefined && <Skeleton />}
    </>
  );
}

/** A placeholder for text that is being loaded. */
export const Skeleton = () => (
  <div class="skeleton" role="status" aria-label="Loading">
    <span />
    <span />
    <span />
  </div>
);

/** A placeholder for a word that is being loaded. */
export const SkeletonWord = () => <span class="skeleton-word" role="status" aria-label="Loading" />;
