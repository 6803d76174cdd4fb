import { useEffect, useState } from "preact/hooks";
import { isServerReachable, REACHABLE_CHANGED } from "../request.ts";
import { session, useSession } from "../session.ts";
import { onQueueChange, sendWaiting, waitingChanges, worksOffline } from "./device.ts";
import type { QueuedChange } from "./queue.ts";

/** Milliseconds after which the server is tried again while a page is open. */
const RETRY = 10_000;

/** The waiting and rejected changes of the person who is signed in, and whether the server answers. */
export function useQueue(): { changes: readonly QueuedChange[]; isOnline: boolean; isOffered: boolean } {
  const person = useSession()?.user.id;
  const [changes, setChanges] = useState<readonly QueuedChange[]>([]);
  const [isOnline, setOnline] = useState(true);
  const [isOffered, setOffered] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const update = (): void => {
      setOnline(isServerReachable());
      setOffered(worksOffline());
      if (person === undefined) return setChanges([]);
      void waitingChanges(person).then((found) => !signal.aborted && setChanges(found));
    };
    update();
    if (!worksOffline()) return;
    onQueueChange(update, signal);
    addEventListener(REACHABLE_CHANGED, update, { signal });
    addEventListener("online", tryAgain, { signal });
    return () => stop.abort();
  }, [person]);
  const isWaiting = isOffered && (!isOnline || changes.some(({ conflict }) => !conflict));
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(tryAgain, RETRY);
    return () => clearInterval(timer);
  }, [isWaiting]);
  return { changes, isOnline, isOffered };
}

/** Opens the session again after one without a network; then, what waits is sent. */
function tryAgain(): void {
  void session().then((found) => found && sendWaiting());
}

/** Loads what a page shows again after the queue has changed, on this page or elsewhere. */
export function useReloadAfterSending(reload: () => void): void {
  useEffect(() => {
    const stop = new AbortController();
    if (worksOffline()) onQueueChange(reload, stop.signal);
    return () => stop.abort();
  }, []);
}
