import { href, pagePerson } from "./address.ts";

/**
 * All that the pages keep in the browser's storage, which may be full, forbidden, or hold what another version wrote.
 * Values of a device stay; those of a person are in the storage of the tab, with the account in their keys: another one
 * does not see them, and they are removed as soon as a page learns that the account is no longer signed in.
 */
const KEYS = {
  offline: "device",
  shortcuts: "device",
  density: "device",
  closed: "device",
  labels: "device",
  protein: "person",
  alignment: "person",
  scans: "person",
} as const;
export type Key = keyof typeof KEYS;

/** Id of the account that is signed in, empty for nobody; undefined while that is unknown. */
let owner: string | undefined = typeof document === "undefined" ? undefined : pagePerson();

const prefix = (): string => `labd${href("")}:`;

/** The name of a value in the storage. */
function storageName(key: Key): string | undefined {
  if (KEYS[key] === "device") return `labd:${key}`;
  return owner === undefined ? undefined : `${prefix()}${key}@${owner}`;
}

const findStorage = (key: Key): Storage => (KEYS[key] === "device" ? localStorage : sessionStorage);

export function readStored<T>(key: Key, fallback: T): T {
  try {
    const name = storageName(key);
    const text = name === undefined ? null : findStorage(key).getItem(name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Stores a value, or removes it where it is null. @returns whether it was stored */
export function writeStored(key: Key, value: unknown): boolean {
  try {
    const name = storageName(key);
    if (name === undefined) return false;
    if (value === null) findStorage(key).removeItem(name);
    else findStorage(key).setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** Keys before they had owners. */
const FORMER_KEYS = /^labd[.:](jobs|motif-scans|proteome-searches|batch|protein|alignment|scans)\b/;

/** The name that a value gets: what a tab had before a sign-in becomes the person's. Null for values to remove. */
function keptName(name: string, person: string): string | null {
  const [, key = "", of] = (name.startsWith(prefix()) && /([^:]*)@([^/]*)/.exec(name)) || [];
  if (of === undefined) return FORMER_KEYS.test(name) ? null : name;
  // Earlier versions kept lists of results and batches here.
  if (!(key in KEYS) || (of !== "" && of !== person)) return null;
  return of === person ? name : name.replace("@", `@${person}`);
}

function removeDataOfOthers(person: string): void {
  try {
    for (const storage of [localStorage, sessionStorage])
      for (const name of Object.keys(storage)) {
        const next = keptName(name, person);
        if (next === name) continue;
        const value = storage.getItem(name)!;
        storage.removeItem(name);
        if (next !== null) storage.setItem(next, value);
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
