import { Sealing } from "../platform/encryption.ts";
import type { Database } from "../platform/sqlite.ts";
import { SECRET_PREFIX } from "./signature.ts";

const contextOf = (id: string): string => `webhook ${id}`;

/** A secret as the database keeps it: in base64, which has no `_`. @param id of the webhook */
export const encryptSecret = (sealing: Sealing, secret: string, id: string): string =>
  Buffer.from(sealing.seal(Buffer.from(secret), contextOf(id))).toString("base64");

/** The secret; null where the key is not there or another one. */
export function decryptSecret(sealing: Sealing, kept: string, id: string): string | null {
  // Of before secrets were encrypted.
  if (kept.startsWith(SECRET_PREFIX)) return kept;
  const secret = sealing.open(Buffer.from(kept, "base64"), contextOf(id));
  return secret === undefined ? null : Buffer.from(secret).toString();
}

/** Encrypts the secrets that are not yet. @returns how many webhooks had one */
export function sealOld(database: Database, sealing: Sealing): number {
  const isOld = `sealed_secret LIKE '${SECRET_PREFIX}%' OR former_sealed_secret LIKE '${SECRET_PREFIX}%'`;
  const find = database.query(
    `SELECT rid, id, sealed_secret AS secret, former_sealed_secret AS former FROM webhook WHERE ${isOld}`,
  );
  if (find.get() === null) return 0;
  const set = database.query("UPDATE webhook SET sealed_secret = ?, former_sealed_secret = ? WHERE rid = ?");
  const again = (kept: string | null, id: string): string | null =>
    kept?.startsWith(SECRET_PREFIX) ? encryptSecret(sealing, kept, id) : kept;
  return database
    .transaction(() => {
      const rows = find.all() as { rid: number; id: string; secret: string; former: string | null }[];
      for (const { rid, id, secret, former } of rows) set.run(again(secret, id), again(former, id), rid);
      return rows.length;
    })
    .immediate();
}

/** How many webhooks there are, and those whose secret cannot be read with the key that there is. */
export function countSealed(database: Database, keyFile: string): { all: number; unreadable: string[] } {
  const sealing = new Sealing(keyFile);
  const rows = database.query("SELECT id, sealed_secret AS secret FROM webhook ORDER BY rid").all() as {
    id: string;
    secret: string;
  }[];
  const unreadable = rows.filter(({ id, secret }) => decryptSecret(sealing, secret, id) === null);
  return { all: rows.length, unreadable: unreadable.map(({ id }) => id) };
}
