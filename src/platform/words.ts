/** English words for messages, documents and pages, which bundle this file: it imports nothing. */

/** `Locations` for `locations`. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The text as a sentence: with a capital and a full stop. */
export const sentence = (text: string): string => `${capitalized(text)}.`;

/** `1 row`, `1,200 rows`; `plural` of an irregular noun: `3 matches`. */
export const pluralize = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;

/** Shortens input of a client for messages: short plain words only. */
export function quoted(typed: string): string {
  return /^[\w.:@+-]{1,60}$/.test(typed) ? `"${typed}"` : "The given text";
}

/** Bytes: `1.50 GB`. */
export function formatSize(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toPrecision(3)} ${units[power]}`;
}

/** `Get a note of a location` becomes `getNoteOfLocation`. */
export const camelCase = (summary: string): string =>
  summary
    .replace(/\(.*?\)/g, "")
    .match(/[A-Za-z0-9]+/g)
    ?.filter((word) => !["a", "an", "the"].includes(word))
    .map((word, i) => (i === 0 ? word.toLowerCase() : capitalized(word)))
    .join("") ?? "";

/** The name of a group for people: the group of all accounts has one for programs. */
export const groupTitle = (name: string): string => (name === "SYSTEM_GROUP" ? "Laboratory" : name);
