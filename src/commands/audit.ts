import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AuditHead, getAuditLog, canonical, hasAudit, verifyChain } from "../accounts/audit.ts";
import { readFilter } from "../accounts/audit-routes.ts";
import { DATABASE, requireDatabase } from "../app/data-directory.ts";
import { systemClock } from "../platform/clock.ts";
import { type Database, openReader } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import type { Call, Command } from "./command.ts";

export const audit: Command = {
  name: "audit",
  summary: "Verify and export the log of sign-ins, rights, deletions and administration.",
  settings: ["data_dir"],
  example:
    "labd audit verify --data-dir /var/lib/labd\n" +
    "labd audit export --since 2026-11-01 --action sign_in > sign-ins.jsonl\n" +
    "Both are read-only and can be run while the server runs.",
  actions: {
    verify: {
      summary: "Check the chain of hashes; exit code 1 if the log was tampered with.",
      flags: {
        "--head SEQ:HASH": "A recorded head that the log must still contain; may be repeated.",
      },
      run: verify,
    },
    export: {
      summary: "Print entries as JSON lines.",
      flags: {
        "--since TIME": "Entries from this time on, such as 2026-11-21.",
        "--until TIME": "Entries before this time.",
        "--actor USER": "Actions of this account.",
        "--action NAME": "An action such as token.revoke, or a group of actions such as token.",
      },
      run: exportLines,
    },
  },
};

async function withLog<T>(call: Call, work: (reader: Database) => Promise<T>): Promise<T> {
  const { config } = call.configuration();
  const path = join(config.data_dir, DATABASE);
  requireDatabase(config);
  if (!existsSync(path)) throw new Problem("bad_database", `There is no database ${path}.`);
  const reader = openReader(path);
  try {
    if (!hasAudit(reader))
      throw new Problem("bad_database", `${path} has no audit log yet. Start the server once.`);
    return await work(reader);
  } finally {
    reader.close();
  }
}

function verify(call: Call): Promise<number> {
  const heads = call.values("--head").map(readHead);
  return withLog(call, async (reader) => {
    const { entries, head, broken } = verifyChain(reader, heads);
    const last = head === null ? "none" : `${head.seq}:${head.hash}`;
    if (broken) {
      await call.print(`The audit log is broken at entry ${broken.seq}: ${broken.why}.\n`);
      await call.print(`${entries} entries; the last is ${last}\n`);
      return 1;
    }
    const recorded = heads.length === 0 ? "" : ` It contains all ${heads.length} recorded heads.`;
    await call.print(`The audit log is intact: ${entries} entries.${recorded}\nhead ${last}\n`);
    return 0;
  });
}

function exportLines(call: Call): Promise<void> {
  const [since, until, actor, action] = ["--since", "--until", "--actor", "--action"].map((flag) =>
    call.value(flag),
  );
  return withLog(call, async (reader) => {
    for (const page of getAuditLog(reader, systemClock).pages(readFilter({ since, until, actor, action })))
      for (const entry of page) await call.print(`${canonical(entry)}\n`);
  });
}

function readHead(text: string): AuditHead {
  const [, seq, hash] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === undefined)
    throw new Problem("usage", "--head: expected a number, a colon and 64 hexadecimal digits.");
  return { seq: Number(seq), hash };
}
