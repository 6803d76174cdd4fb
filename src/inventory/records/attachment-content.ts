import type { Resource } from "../model/resource.ts";
import type { Statements } from "./statements.ts";

/** SHA-256 of all content that versions of a file, or of the files of a record, refer to. */
export function storedDigests(statements: Statements, resource: Resource, rid: number): string[] {
  const [of, also] =
    resource.name === "attachment" ? ["object", ""] : ["host", " AND object_kind = 'attachment'"];
  const text =
    "SELECT DISTINCT json_extract(after, '$.sha256') AS sha256 FROM record_change" +
    ` WHERE ${of}_kind = ? AND ${of}_rid = ? AND after IS NOT NULL${also}`;
  return statements.all({ text, args: [resource.name, rid] }).map(({ sha256 }) => String(sha256));
}

/** Removes content that no version refers to any more. */
export function forgetContent(statements: Statements, digests: readonly string[]): void {
  for (const digest of digests)
    statements.run({
      text:
        "DELETE FROM attachment_content WHERE sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM attachment WHERE sha256 = ?1) AND NOT EXISTS" +
        " (SELECT 1 FROM record_change WHERE object_kind = 'attachment' AND json_extract(after, '$.sha256') = ?1)",
      args: [digest],
    });
}
