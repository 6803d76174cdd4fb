import { join } from "node:path";
import { existsSync } from "node:fs";
import { DATABASE } from "../app/data-directory.ts";
import { type Call, unknown, type Command } from "./command-line.ts";
import { Problem } from "../problem.ts";
import { type AuditHead, auditOf, canonical, hasAudit, verifyChain } from "../accounts/audit.ts";
import { systemClock } from "../platform/clock.ts";
import { readFilter } from "../accounts/audit-routes.ts";
import { type Database, openReader } from "../platform/sqlite.ts";

export const audit: Command = {
  name: "audit",
  summary: "Verify and export the log of sign-ins, rights, deletions and administration.",
  operands: "verify | export",
  flags: [
    {
      name: "--head",
      value: "SEQ:HASH",
      sentence:
        "verify: an end of the log that was noted elsewhere, which must still be in it; can be given again.",
    },
    { name: "--since", value: "TIME", sentence: "export: entries from this time on, such as 2026-11-21." },
    { name: "--until", value: "TIME", sentence: "export: entries before this time." },
    { name: "--actor", value: "USER", sentence: "export: what this account did." },
    {
      name: "--action",
      value: "NAME",
      sentence: "export: an action such as token.revoke, or all of a kind: token.",
    },
  ],
  settings: ["data_dir"],
  example:
    "labd audit verify --data-dir /var/lib/labd\n" +
    "labd audit export --since 2026-11-01 --action sign_in > sign-ins.jsonl\n" +
    "Both only read, beside a running server too. verify exits with 1 where the log was tampered with.",
  async run(call) {
    const [action = "", ...rest] = call.operands;
    if (action !== "verify" && action !== "export")
      throw unknown("action of labd audit", action, ["verify", "export"], "labd audit --help");
    if (rest.length > 0)
      throw new Problem("usage", `labd audit ${action} takes no operand. See labd audit --help.`);
    const heads = call.values("--head").map(readHead);
    const path = join(call.configuration().config.data_dir, DATABASE);
    if (!existsSync(path)) throw new Problem("bad_database", `There is no database ${path}.`);
    const reader = openReader(path);
    try {
      if (!hasAudit(reader))
        throw new Problem(
          "bad_database",
          `${path} is of a version before the audit log. Start the server once.`,
        );
      return action === "verify" ? verify(reader, heads) : await exportLines(reader, call);
    } finally {
      reader.close();
    }
  },
};

function verify(reader: Database, heads: AuditHead[]): number {
  const { entries, head, broken } = verifyChain(reader, heads);
  const end = head === null ? "none" : `${head.seq}:${head.hash}`;
  if (broken) {
    process.stdout.write(`The audit log is broken at entry ${broken.seq}: ${broken.why}.\n`);
    process.stdout.write(`${entries} entries; the last is ${end}\n`);
    return 1;
  }
  const noted = heads.length === 0 ? "" : ` All ${heads.length} noted ends are in it.`;
  process.stdout.write(`The audit log is whole: ${entries} entries.${noted}\nhead ${end}\n`);
  return 0;
}

async function exportLines(reader: Database, call: Call): Promise<number> {
  const filter = readFilter({
    since: call.value("--since"),
    until: call.value("--until"),
    actor: call.value("--actor"),
    action: call.value("--action"),
  });
  let text = "";
  for (const entry of auditOf(reader, systemClock).entries(filter)) {
    text += `${canonical(entry)}\n`;
    if (text.length < 65_536) continue;
    await written(text);
    text = "";
  }
  await written(text);
  return 0;
}

/** Waits until a slow reader has taken it, so that a long log is not held in memory. */
const written = (text: string): Promise<void> =>
  new Promise((resolve) => process.stdout.write(text, () => resolve()));

function readHead(text: string): AuditHead {
  const [, seq, hash] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === undefined)
    throw new Problem("usage", "--head: expected a number, a colon and 64 hexadecimal digits.");
  return { seq: Number(seq), hash };
}
