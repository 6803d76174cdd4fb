/** What was put in as proteins and is not sent yet: kept for this tab, so that a reload loses nothing. */

const KEY = "labd.protein";
/** Characters: more would fill the storage. */
const MOST = 2_000_000;

export function draft(): string {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(text: string): void {
  try {
    if (text === "" || text.length > MOST) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, text);
  } catch {
    // Storage is forbidden: only a reload would have needed it.
  }
}
