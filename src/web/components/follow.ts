import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";

/** Milliseconds between requests where there is no stream of events. */
const POLL = 1500;

interface Followed<T> {
  load: (signal: AbortSignal) => Promise<T>;
  /** Path of its events, whose data are whole values. */
  events: string;
  hasEnded: (value: T) => boolean;
}

/** Something on the server, followed by its events until it ends. @param key nothing is loaded while it is null */
export function useFollowed<T>(
  key: string | null,
  { load, events, hasEnded }: Followed<T>,
): { value: T | null; error: unknown } {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** @returns whether it goes on */
    const loadOnce = async (): Promise<boolean> => {
      try {
        const found = await load(stop.signal);
        setValue(found);
        return !hasEnded(found);
      } catch (problem) {
        if (!stop.signal.aborted) setError(problem);
        return false;
      }
    };
    const poll = (): void => {
      timer = setTimeout(async () => {
        if (await loadOnce()) poll();
      }, POLL);
    };
    const onEvent = ({ data }: MessageEvent<string>): void => {
      const now = JSON.parse(data) as T;
      setValue(now);
      if (hasEnded(now)) source?.close();
    };
    void loadOnce().then((shouldContinue) => {
      if (!shouldContinue || stop.signal.aborted) return;
      source = new EventSource(href(events));
      source.addEventListener("state", onEvent);
      source.addEventListener("progress", onEvent);
      source.addEventListener("error", () => {
        // Browsers reconnect by themselves, but not after a refusal, for example of too many streams.
        if (source?.readyState === EventSource.CLOSED) poll();
      });
    });
    return () => {
      stop.abort();
      source?.close();
      clearTimeout(timer);
    };
  }, [key]);
  return { value, error };
}
