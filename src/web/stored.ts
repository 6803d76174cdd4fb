/** JSON in the browser's storage, which may be full, forbidden, or hold what another version wrote. */

export function readStored<T>(kind: "local" | "session", key: string, fallback: T): T {
  try {
    const text = storageOf(kind).getItem(key);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Stores a value, or removes it where it is null. @returns whether it was stored */
export function writeStored(kind: "local" | "session", key: string, value: unknown): boolean {
  try {
    if (value === null) storageOf(kind).removeItem(key);
    else storageOf(kind).setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** Removes what this tab has stored. */
export function clearTab(): void {
  try {
    sessionStorage.clear();
  } catch {
    // Forbidden: nothing was stored.
  }
}

const storageOf = (kind: "local" | "session"): Storage => (kind === "local" ? localStorage : sessionStorage);
