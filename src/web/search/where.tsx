import type { Result } from "./search.ts";

const SOURCES: Readonly<Record<string, string>> = {
  annotation: "Annotation",
  note: "Note",
  attachment: "File",
  supplier: "Supplier",
  catalogue_number: "Catalogue number",
  lot: "Lot",
};

/** The place of a record, then the words by which it was found, unless they are in its name. */
export function ResultPlace({ of: { where, by, text } }: { of: Result }) {
  const found = [SOURCES[by], text].filter(Boolean).join(": ");
  return <small>{[where, found].filter(Boolean).join(" · ")}</small>;
}
