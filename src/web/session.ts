import { useEffect, useState } from "preact/hooks";
import { hasSession } from "./address.ts";
import { clearDevice, keepSnapshotFor, snapshot, updateDevice, worksOffline } from "./offline/device.ts";
import { type Answer, ApiError, call, isUnreachable, setCsrfToken } from "./request.ts";
import { keepStoredFor } from "./stored.ts";

/** The session of the browser. */
export type Session = Answer<"GET /api/v2/session/">;

let loading: Promise<Session | null> | undefined;

/** The session, loaded once per page; null where nobody is signed in. */
export function session(): Promise<Session | null> {
  // A page that was kept for offline use may be older than the session.
  loading ??=
    hasSession() || worksOffline()
      ? call("GET /api/v2/session/").then(remember, signedOut)
      : Promise.resolve(remember(null));
  return loading;
}

function remember(session: Session | null): Session | null {
  setCsrfToken(session?.csrf_token ?? null);
  keepStoredFor(session?.user.id ?? "");
  loading = Promise.resolve(session);
  void keepForPerson(session).catch(() => {});
  return session;
}

async function keepForPerson(session: Session | null): Promise<void> {
  await keepSnapshotFor(session?.user.id ?? null);
  if (session && !session.needs_second_factor) await updateDevice(session.user);
}

/** Without a network, the person of the snapshot; the session itself may have ended. */
async function sessionOffline(): Promise<Session | null> {
  const kept = await snapshot();
  if (!kept) return null;
  return { user: kept.person, csrf_token: "", expires: "", needs_second_factor: false, vouched: false };
}

function signedOut(error: unknown): Session | null | Promise<Session | null> {
  if (error instanceof ApiError && error.status === 401) return remember(null);
  setCsrfToken(null);
  // After any other error the next caller tries again.
  loading = undefined;
  return isUnreachable(error) ? sessionOffline() : null;
}

/** @throws ApiError `unauthenticated` or `second_factor_required`, among others */
export async function signIn(values: { username: string; password: string; code: string }): Promise<Session> {
  const { code, ...body } = values;
  const opened = await call("POST /api/v2/session/", { body: code === "" ? body : values });
  remember(opened);
  return opened;
}

/** @throws ApiError */
export async function signOut(): Promise<void> {
  await call("DELETE /api/v2/session/");
  await clearDevice();
  remember(null);
}

/** The session; undefined until it is known, null where nobody is signed in. */
export function useSession(): Session | null | undefined {
  const [found, show] = useState<Session | null | undefined>(hasSession() ? undefined : null);
  useEffect(() => {
    void session().then(show);
  }, []);
  return found;
}
