import type { Database } from "../../platform/sqlite.ts";
import { type JobRequest, transitionSql } from "./job.ts";

/** A job in the hands of a worker. */
export interface Lease {
  rid: number;
  id: string;
  request: JobRequest;
  digest: string;
  /** 1 the first time. */
  attempts: number;
  /** Until when the worker may take. */
  deadline: number;
  /** Milliseconds that this job may take, where another than the pool's usual time is meant. */
  timeout?: number;
}

const LEASE = transitionSql("lease");
/** A job whose question is being answered already, here or elsewhere, waits for that answer. */
const READY = `${LEASE.where} AND twin = 0 AND worker IS NULL AND NOT EXISTS (SELECT 1 FROM job AS other
  WHERE other.digest = ready.digest AND (other.state = 'running' OR (other.state = 'queued' AND other.worker = '')))`;
const nextJobSql = (whom: ClientRange): string =>
  `SELECT rid FROM job AS ready INDEXED BY job_turn WHERE ${READY} AND ${whom} ORDER BY client, rid LIMIT 1`;

type ClientRange = "client > ?" | "client <= ?";

/** A job that workers elsewhere may take. */
export interface Offer {
  rid: number;
  id: string;
  client: string;
  /** The request as JSON text. */
  request: string;
}

/**
 * Whose turn it is: clients with waiting jobs take turns (round robin), each with its oldest job, so that one who
 * submits thousands holds nobody up. The turns go round in the order of the clients' keys; all that has to be
 * remembered is who was last, and a restart may forget it.
 */
export class FairScheduler {
  #last = "";

  constructor(private readonly database: Database) {}

  /** Takes the next job for a worker, until `deadline`; null where none can start. */
  lease(now: number, deadline: number): Lease | null {
    const row = this.#take("client > ?", now, deadline) ?? this.#take("client <= ?", now, deadline);
    if (!row) return null;
    const { client, request, ...lease } = row;
    this.#last = client;
    return { ...lease, request: JSON.parse(request) as JobRequest };
  }

  /** Whether a job waits that was not offered: cheaper to ask than to find that none can start. */
  mayOffer(): boolean {
    const waiting =
      "SELECT 1 FROM job INDEXED BY job_turn WHERE state = 'queued' AND twin = 0 AND worker IS NULL";
    return this.database.query(`${waiting} LIMIT 1`).get() !== null;
  }

  /** Sets the next job aside for workers elsewhere; null where none can start. */
  offer(): Offer | null {
    const row = this.#offer("client > ?") ?? this.#offer("client <= ?");
    if (row) this.#last = row.client;
    return row;
  }

  #offer(whom: ClientRange): Offer | null {
    return this.database
      .query(
        `UPDATE job SET worker = '' WHERE rid = (${nextJobSql(whom)}) RETURNING rid, id, client, request`,
      )
      .get(this.#last) as Offer | null;
  }

  #take(whom: ClientRange, now: number, deadline: number) {
    return this.database
      .query(
        `UPDATE job SET ${LEASE.set}, attempts = attempts + 1, started = ?, deadline = ?
         WHERE rid = (${nextJobSql(whom)})
         RETURNING rid, id, client, request, digest, attempts, deadline`,
      )
      .get(now, deadline, this.#last) as
      (Omit<Lease, "request"> & { client: string; request: string }) | null;
  }

  /**
   * How many leases from now a queued job will have its turn, 1 for the next: exact if nothing else is submitted,
   * cancelled or answered meanwhile, thus an estimate. In each round every other client has at most one turn, those
   * who come before this client in the round one more.
   */
  place(rid: number, client: string): number {
    const { own } = this.database
      .query(
        `SELECT max((SELECT count(*) FROM job WHERE ${LEASE.where} AND twin = 0 AND worker IS NULL AND client = ?1 AND rid <= ?2)
           + (SELECT count(*) FROM job WHERE ${LEASE.where} AND worker = '' AND client = ?1 AND rid <= ?2), 1) AS own`,
      )
      .get(client, rid) as { own: number };
    const { others } = this.database
      .query(
        `SELECT coalesce(sum(min(turns, CASE WHEN (client <= ?1, client) < (?2 <= ?1, ?2) THEN ?3 ELSE ?3 - 1 END)), 0) AS others
         FROM queue WHERE client <> ?2`,
      )
      .get(this.#last, client, own) as { others: number };
    return own + others;
  }
}
