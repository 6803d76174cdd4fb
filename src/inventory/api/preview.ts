import type { Actor } from "../model/access.ts";
import { changedFields } from "../model/stored-record.ts";
import type { RecordWrite } from "../records/journal.ts";

/** Chosen anew in every run: the same in none, whatever the caller asked for. */
const BY_ITSELF = new Set(["id", "created", "created_by", "deleted_date", "deleted_by"]);

/**
 * What a dry run is confirmed by: a digest (SHA-256, base64url) of who wrote, of every record with the version that it
 * had, and of the values that it was given. The same request gives the same digest exactly where it would do the same.
 */
export function digestOf(
  { actor, kind }: { actor: Actor; kind: string },
  written: readonly RecordWrite[],
): string {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify([actor.user, kind]));
  for (const { resource, rid, op, version, before, after } of written) {
    const values = after
      ? changedFields(before, after)
          .filter((name) => !BY_ITSELF.has(name))
          .map((name) => [name, after[name]])
      : [];
    // The row of a new record may be another one by the time that it is made.
    hash.update(JSON.stringify([resource.name, before ? rid : null, op, version, values]));
  }
  return hash.digest("base64url");
}
