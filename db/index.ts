import { readMigrations } from "./read-migrations.ts" with { type: "macro" };

/** Embedded migrations in order. Forward only: never edit a released one. */
export const MIGRATIONS: readonly { name: string; sql: string }[] = readMigrations();
