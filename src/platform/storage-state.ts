import { statfsSync } from "node:fs";
import { Problem } from "../problem.ts";
import type { Log } from "./log.ts";
import type { Database } from "./sqlite.ts";

/** Bytes, and share of the disk, that new writes leave to accepted work: results of jobs, the log of the database. */
const RESERVE = { bytes: 16_777_216, share: 0.01 };

/** SQLite's texts about a database that is damaged; errors of other threads and processes arrive as text. */
const DAMAGE = /\b(?:database disk image is malformed|file is not a database)\b/;

/** Whether new writes are accepted: not on a full disk, and no longer once the database proved to be damaged. */
export class StorageState {
  /** The given log, which all parts of the program should use: the error of any of them may reveal the damage. */
  readonly log: Log;
  #isDamaged = false;

  constructor(
    private readonly directory: string,
    private readonly database: Database,
    log: Log,
    private readonly statfs: (path: string) => { bavail: number; blocks: number; bsize: number } = statfsSync,
  ) {
    this.log = {
      info: log.info,
      problem: (event, fields) => {
        log.problem(event, fields);
        if (!this.#isDamaged && DAMAGE.test(String(fields?.cause))) this.#stopWriting(log);
      },
    };
  }

  /** Why nothing is written; undefined while writes are accepted. @param isDeletion deletions may take the reserve */
  problem(isDeletion = false): Problem | undefined {
    if (this.#isDamaged)
      return new Problem(
        "database_damaged",
        "The database is damaged: nothing is written. Stop labd, copy the data directory elsewhere, and restore the last backup.",
      );
    if (isDeletion || !this.#isFull()) return undefined;
    const headers = { "Retry-After": "60" };
    const text =
      "The data disk is full: nothing was written. Reading works; writing resumes once there is space.";
    return new Problem("disk_full", text, { headers });
  }

  #isFull(): boolean {
    const { bavail, blocks, bsize } = this.statfs(this.directory);
    return bavail * bsize < Math.min(RESERVE.bytes, blocks * bsize * RESERVE.share);
  }

  #stopWriting(log: Log): void {
    this.#isDamaged = true;
    // Also for what no request causes, such as results of jobs, which are kept in memory meanwhile.
    this.database.run("PRAGMA query_only = ON");
    log.problem("database damaged", { see: "labd doctor" });
  }
}
