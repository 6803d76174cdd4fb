import { useEffect, useState } from "preact/hooks";
import { hasSession } from "./address.ts";
import { requestJson, ApiError, setCsrfToken } from "./request.ts";

/** Who is signed in, as `GET /api/v2/session/` says. */
export interface Session {
  user: { id: string; username: string; is_superuser?: boolean; [field: string]: unknown };
  csrf_token: string;
  expires: string;
  /** Whether the account may do nothing until it has set a second factor up. */
  needs_second_factor: boolean;
  /** Whether a provider has said who it is. */
  vouched: boolean;
}

const PATH = "/api/v2/session/";
let asked: Promise<Session | null> | undefined;

/** Asks once per page who is signed in; null where nobody is. */
export function session(): Promise<Session | null> {
  if (!hasSession()) asked ??= Promise.resolve(null);
  asked ??= requestJson<Session>("GET", PATH).then(remember, (error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) asked = undefined;
    return remember(null);
  });
  return asked;
}

function remember(found: Session | null): Session | null {
  setCsrfToken(found?.csrf_token ?? null);
  return found;
}

/** @throws Refusal */
export async function signIn(values: { username: string; password: string; code: string }): Promise<Session> {
  const { code, ...body } = values;
  const opened = await requestJson<Session>("POST", PATH, {
    body: { ...body, ...(code === "" ? {} : { code }) },
  });
  asked = Promise.resolve(remember(opened));
  return opened;
}

/** @throws Refusal */
export async function signOut(): Promise<void> {
  await requestJson("DELETE", PATH);
  asked = Promise.resolve(remember(null));
}

/** Who is signed in; undefined until that is known. */
export function useSession(): Session | null | undefined {
  const [found, show] = useState<Session | null | undefined>(hasSession() ? undefined : null);
  useEffect(() => {
    void session().then(show);
  }, []);
  return found;
}
