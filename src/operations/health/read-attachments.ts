import type { Database } from "../../platform/sqlite.ts";
import type { ReadContent } from "../../scoring/index.ts";

/** Reads the files of records in a database, which has their SHA-256 sums. */
export function* readAttachments(database: Database): Generator<ReadContent> {
  const rows = database.query(
    `SELECT sha256, content, (SELECT name || ' (' || id || ')' FROM attachment WHERE attachment.sha256 = attachment_content.sha256) AS name
     FROM attachment_content ORDER BY rid`,
  );
  type Row = { sha256: string; content: Uint8Array; name: string | null };
  for (const { sha256, content, name } of rows.iterate() as Iterable<Row>)
    yield {
      kind: "attachment",
      name: `attachment ${name ?? sha256}`,
      damage:
        new Bun.CryptoHasher("sha256").update(content).digest("hex") === sha256
          ? null
          : "its SHA-256 is not the one stored",
      remedy: "Download it from a server that runs on a backup, and attach it again.",
    };
}
