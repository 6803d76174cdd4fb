import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The files of this folder that are migrations, in order. Runs when the code is bundled or loaded from source, so that
 * the executable contains their text.
 */
export const readMigrations = (): { name: string; sql: string }[] =>
  readdirSync(import.meta.dir)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .toSorted()
    .map((name) => ({ name, sql: readFileSync(join(import.meta.dir, name), "utf8") }));
