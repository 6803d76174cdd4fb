import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../problem.ts";
import { fillReserve, makeRoom, reserveSize } from "./disk-reserve.ts";
import type { Log } from "./log.ts";
import { createFile } from "./owned-file.ts";
import type { Database } from "./sqlite.ts";
import { getWriteLock } from "./write-lock.ts";

/** Bytes, and share of the disk, that new writes leave to accepted work: results of jobs, the log of the database. */
const RESERVE = { bytes: 16_777_216, share: 0.01 };

/** Texts about a database that is damaged: SQLite's, and ours. Errors of other threads and processes arrive as text. */
const DAMAGE =
  /(?:database disk image is malformed|file is not a database|The database is damaged|labd\.sqlite is damaged: (?!a row of ))/;

/** File in the data directory from the discovery of the damage until a start finds the database intact. */
const MARK = "labd.damaged";

const isDamage = (error: unknown): boolean =>
  DAMAGE.test(String(error)) ||
  (error instanceof Error && error.cause !== undefined && isDamage(error.cause));

/** Tells the server of a data directory if an error of a command reveals that the database is damaged. */
export function reportDamage(directory: string, error: unknown): void {
  if (!isDamage(error)) return;
  try {
    writeFileSync(createFile(join(directory, MARK)), `${String(error)}\n`);
  } catch {
    // A full or read-only disk: the server meets the damage itself.
  }
}

/** True if new writes are accepted: not on a full disk, and no longer once the database proved to be damaged. */
export class StorageState {
  /** The given log, which all parts of the program should use: the error of any of them may reveal the damage. */
  readonly log: Log;
  #isDamaged = false;
  #wasFull = false;

  constructor(
    private readonly directory: string,
    private readonly database: Database,
    private readonly plainLog: Log,
    private readonly statfs: (path: string) => { bavail: number; blocks: number; bsize: number } = statfsSync,
  ) {
    this.log = {
      info: plainLog.info,
      problem: (event, fields) => {
        plainLog.problem(event, fields);
        if (fields?.cause !== undefined && isDamage(fields.cause)) this.#stopWriting(String(fields.cause));
      },
    };
    // Left by an earlier process; the database may have been restored since.
    if (this.#isMarked() && isIntact(database)) rmSync(join(directory, MARK), { force: true });
    void this.isDamaged;
  }

  /** True if any process has found the database to be damaged. */
  get isDamaged(): boolean {
    if (!this.#isDamaged && this.#isMarked()) this.#stopWriting("reported by another process");
    return this.#isDamaged;
  }

  /** Why nothing is written, not even a sign-in. */
  damage(): Problem | undefined {
    return this.isDamaged ? damaged() : undefined;
  }

  /** Why nothing is written; undefined while writes are accepted. @param isDeletion deletions may take the reserve */
  problem(isDeletion = false): Problem | undefined {
    const damage = this.damage();
    if (damage) return damage;
    const isFull = this.#isFull();
    if (isFull && isDeletion) makeRoom(this.database);
    else if (!isFull && this.#wasFull) fillReserve(this.directory);
    this.#wasFull = isFull;
    return isFull && !isDeletion ? Problem.diskFull() : undefined;
  }

  #isMarked(): boolean {
    return existsSync(join(this.directory, MARK));
  }

  #isFull(): boolean {
    const disk = this.statfs(this.directory);
    const { bavail, blocks, bsize } = disk;
    // Space that the reserve gives back is not for others.
    return (
      bavail * bsize < Math.max(reserveSize(disk), Math.min(RESERVE.bytes, blocks * bsize * RESERVE.share))
    );
  }

  #stopWriting(cause: string): void {
    if (this.#isDamaged) return;
    this.#isDamaged = true;
    // Also for what no request causes, such as results of jobs, which are kept in memory meanwhile.
    this.database.run("PRAGMA query_only = ON");
    // And for threads and processes that write on connections of their own.
    getWriteLock(this.database).refusal = damaged();
    reportDamage(this.directory, cause);
    this.plainLog.problem("database damaged", { cause, see: "labd doctor" });
  }
}

const damaged = (): Problem =>
  new Problem(
    "database_damaged",
    "The database is damaged: nothing is written. Stop labd, copy the data directory elsewhere, and restore the last backup.",
  );

function isIntact(database: Database): boolean {
  try {
    const { integrity_check: found } = database.query("PRAGMA integrity_check(1)").get() as {
      integrity_check: string;
    };
    return found === "ok";
  } catch {
    return false;
  }
}
