import { href, pagePerson } from "./address.ts";

/**
 * All that the pages keep in the browser's storage, which may be full, forbidden, or hold what another version wrote.
 * Values of a person have the account in their keys: another one does not see them, and they are removed as soon as a
 * page learns that the account is no longer signed in. Nobody's values, from before a sign-in, stay apart.
 */
const KEYS = {
  offline: { in: "local", of: "device" },
  shortcuts: { in: "local", of: "device" },
  density: { in: "local", of: "device" },
  closed: { in: "local", of: "device" },
  labels: { in: "local", of: "device" },
  batch: { in: "local", of: "person" },
  protein: { in: "session", of: "person" },
  alignment: { in: "session", of: "person" },
  scans: { in: "session", of: "person" },
} as const;
export type Key = keyof typeof KEYS;

/** Id of the account that is signed in, empty for nobody; undefined while that is unknown. */
let owner: string | undefined = typeof document === "undefined" ? undefined : pagePerson();

const prefix = (): string => `labd${href("")}:`;

/** The name of a value in the storage. @param part one of several under the key, such as the id of a batch */
function storageName(key: Key, part: string, of = owner): string | undefined {
  if (KEYS[key].of === "device") return `labd:${key}`;
  return of === undefined ? undefined : `${prefix()}${key}@${of}${part && `/${part}`}`;
}

const findStorage = (kind: "local" | "session"): Storage =>
  kind === "local" ? localStorage : sessionStorage;

export function readStored<T>(key: Key, fallback: T, part = ""): T {
  try {
    const name = storageName(key, part);
    const text = name === undefined ? null : findStorage(KEYS[key].in).getItem(name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Stores a value, or removes it where it is null. @returns whether it was stored */
export function writeStored(key: Key, value: unknown, part = ""): boolean {
  try {
    const name = storageName(key, part);
    if (name === undefined) return false;
    if (value === null) findStorage(KEYS[key].in).removeItem(name);
    else findStorage(KEYS[key].in).setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The parts that are stored under a key. */
export function storedParts(key: Key): string[] {
  try {
    const start = storageName(key, "/")?.slice(0, -1);
    if (start === undefined) return [];
    const names = Object.keys(findStorage(KEYS[key].in));
    return names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
  } catch {
    return [];
  }
}

/** Keys of version 0.2.0 before they had owners. */
const FORMER_KEYS = /^labd[.:](jobs|motif-scans|proteome-searches|batch|protein|alignment|scans)(?:\.(.+))?$/;

/**
 * The name that a value gets: what a tab had before a sign-in, and what an earlier version wrote, become the person's.
 * Null for a value of somebody else.
 */
function keptName(name: string, kind: "local" | "session", person: string): string | null {
  const [, former, part = ""] = FORMER_KEYS.exec(name) ?? [];
  if (former !== undefined) return former in KEYS ? storageName(former as Key, part, person)! : null;
  const [, key = "", of] = (name.startsWith(prefix()) && /([^:]*)@([^/]*)/.exec(name)) || [];
  // Earlier versions kept lists of results here.
  if (of !== undefined && !(key in KEYS)) return null;
  if (of === undefined || of === person) return name;
  if (of !== "") return null;
  return kind === "session" ? name.replace("@", `@${person}`) : name;
}

function removeDataOfOthers(person: string): void {
  try {
    for (const kind of ["local", "session"] as const) {
      const storage = findStorage(kind);
      for (const name of Object.keys(storage)) {
        const next = keptName(name, kind, person);
        if (next === name) continue;
        const value = storage.getItem(name)!;
        storage.removeItem(name);
        if (next !== null) storage.setItem(next, value);
      }
    }
  } catch {
    // Forbidden: nothing was stored.
  }
  // A page that somebody left stores nothing more until it is loaded again.
  owner = owner && owner !== person ? undefined : person;
}

/** Pages of all tabs say here who is signed in. */
const channel = typeof document === "undefined" ? undefined : new BroadcastChannel(`${prefix()}person`);
channel?.addEventListener("message", ({ data }) => {
  if (!owner || data === owner) return;
  removeDataOfOthers(String(data));
  location.reload();
});

/** Records who is signed in, empty for nobody; removes the values of other accounts in all tabs. */
export function keepStoredFor(person: string): void {
  removeDataOfOthers(person);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin
  channel?.postMessage(person);
}

// A page that was kept for work without a network may be older than the session, which is asked for then.
if (owner !== undefined && !readStored("offline", false)) keepStoredFor(owner);
