/**
 * Searches of all lists of a large inventory, in this process, with varied words.
 *
 *   bun run test/bench/inventory-search.bench.ts     500,000 records, a fifth as many annotations, notes and files
 *   RECORDS=20000 SEARCHES=20 …                      quick
 *   DATA=/tmp/laboratory.sqlite …                    keep the records for the next run
 *
 * Prints milliseconds of processor time of a search by what is searched for, and by who searches: an administrator, a
 * member of a group that may view a quarter of the records, and a guest who may view ten.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Accounts } from "../../src/accounts/accounts.ts";
import { parseDeletedFilter } from "../../src/inventory/model/listing.ts";
import { openStore } from "../../src/inventory/records/store.ts";
import { RESOURCES } from "../../src/inventory/resources/index.ts";
import { openMigrated } from "../database.ts";
import { median, quantile, say } from "./harness.ts";
import { fillLaboratory, USERS, WORDS } from "./inventory/laboratory.ts";
import { type Random, seeded } from "./rest/requests.ts";

const RECORDS = Number(process.env.RECORDS ?? 500_000);
const SEARCHES = Number(process.env.SEARCHES ?? 60);

const word = (random: Random): string => WORDS[random(WORDS.length)];
const KINDS: Readonly<Record<string, (random: Random) => string>> = {
  barcode: (random) => `BC${String(random(RECORDS)).padStart(8, "0")}`,
  number: (random) => String(random(RECORDS)),
  word: word,
  "word of all records": (random) => ["sample", "batch", "from"][random(3)],
  "word and number": (random) => `${word(random)} ${random(RECORDS)}`,
  "two words": (random) => `${word(random)} ${word(random)}`,
  "three words": (random) => `${word(random)} ${word(random)} ${word(random)}`,
  "three words, one of all records": (random) => `sample ${word(random)} ${word(random)}`,
  "four words": (random) => `${word(random)} ${word(random)} ${word(random)} ${word(random)}`,
  "words and batch": (random) => `${word(random)} ${word(random)} batch ${random(977)}`,
  "part of a word": (random) => word(random).slice(0, 3),
  "one letter": (random) => "abcdefghiklmnopr"[random(16)],
  "word with a typo": (random) => `${word(random).slice(0, -1)}q`,
  "word that is nowhere": (random) => `${word(random)} xylo${random(1000)}`,
};

const directory = mkdtempSync(join(tmpdir(), "labd-search-"));
try {
  const path = process.env.DATA ?? join(directory, "labd.sqlite");
  const isNew = !existsSync(path);
  const database = openMigrated(path);
  const clock = { now: Date.now, newId: () => crypto.randomUUID() };
  const accounts = new Accounts(database, clock);
  if (isNew) {
    await accounts.addUser({ username: "admin", superuser: true });
    for (const [username, group] of Object.entries(USERS)) await accounts.addUser({ username, group });
    fillLaboratory(path, RECORDS);
  }
  const { search, statements } = openStore(database, clock);
  const resources = RESOURCES.filter(({ fields }) => fields.id.kind === "uuid");
  for (const username of ["admin", ...Object.keys(USERS)]) {
    const { rid } = statements.get({
      text: "SELECT rid FROM user_account WHERE username = ?",
      args: [username],
    })!;
    const actor = accounts.readActor(Number(rid));
    const find = (typed: string): number => {
      const before = process.cpuUsage();
      search.find({
        typed,
        actor,
        resources,
        results: 5,
        makeCondition: (resource) => parseDeletedFilter(resource, new URLSearchParams()),
      });
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    say(`${username}: first ${find("gfp").toFixed(0)} ms`);
    for (const [name, typed] of Object.entries(KINDS)) {
      const random = seeded(5);
      const times = Array.from({ length: SEARCHES }, () => find(typed(random)));
      say(
        `  ${name}: ${median(times).toFixed(1)} ms (95 %: ${quantile(times, 0.95).toFixed(1)}, first ${times[0].toFixed(1)})`,
      );
    }
  }
  database.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
