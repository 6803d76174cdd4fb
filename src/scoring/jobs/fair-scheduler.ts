import type { Database } from "../../platform/sqlite.ts";
import { loadModels } from "../corpus/class-models.ts";
import { type JobRequest, transitionSql } from "./job.ts";

/** A job that is leased to a worker. */
export interface Lease {
  rid: number;
  id: string;
  request: JobRequest;
  digest: string;
  /** Number of this attempt, from 1. */
  attempts: number;
  /** Time limit of the worker. */
  deadline: number;
  /** Milliseconds that this job may take, if not the usual time of the pool. */
  timeout?: number;
}

const LEASE = transitionSql("lease");
/** Jobs that can start: one whose duplicate of the same client runs, here or on the farm, waits for its result. */
const READY = `${LEASE.where} AND twin = 0 AND worker IS NULL AND NOT EXISTS (SELECT 1 FROM job AS other
  WHERE other.digest = ready.digest AND other.client = ready.client AND (other.state = 'running' OR (other.state = 'queued' AND other.worker = '')))`;
const nextJobSql = (clientRange: ClientRange): string =>
  `SELECT rid FROM job AS ready INDEXED BY job_turn WHERE ${READY} AND ${clientRange} ORDER BY client, rid LIMIT 1`;

type ClientRange = "client > ?" | "client <= ?";

/** A job that remote workers may take. */
export interface Offer {
  rid: number;
  id: string;
  client: string;
  /** The request as JSON text. */
  request: string;
}

type LeasedJob = Pick<Offer, "client" | "request">;

/**
 * Round robin between clients with waiting jobs, each with its oldest job, so that a client that submits thousands delays
 * nobody. The order is that of the clients' keys; only the last client is remembered, and a restart may forget it.
 */
export class FairScheduler {
  #last = "";

  constructor(private readonly database: Database) {}

  /** Leases the next job to a worker; null if none can start. */
  lease(now: number, deadline: number): Lease | null {
    const row = this.#take<Omit<Lease, "request">>(
      `${LEASE.set}, attempts = attempts + 1, started = ?, deadline = ?`,
      "rid, id, client, request, digest, attempts, deadline",
      [now, deadline],
    );
    if (!row) return null;
    const { client: _, request, ...lease } = row;
    return { ...lease, request: this.#withModels(JSON.parse(request) as JobRequest) };
  }

  /** True if a job waits that is not offered; cheaper than looking for one that can start. */
  mayOffer(): boolean {
    const waiting =
      "SELECT 1 FROM job INDEXED BY job_turn WHERE state = 'queued' AND twin = 0 AND worker IS NULL";
    return this.database.query(`${waiting} LIMIT 1`).get() !== null;
  }

  /** Reserves the next job for remote workers; null if none can start. */
  offer(): Offer | null {
    const offer = this.#take<Offer>("worker = ''", "rid, id, client, request", []);
    const request = offer && (JSON.parse(offer.request) as JobRequest);
    return request?.classModels ? { ...offer!, request: JSON.stringify(this.#withModels(request)) } : offer;
  }

  /** The request with its class models in the knowledge: the worker has no database. */
  #withModels(request: JobRequest): JobRequest {
    const classModels = loadModels(this.database, request.classModels);
    return classModels ? { ...request, knowledge: { ...request.knowledge, classModels } } : request;
  }

  /** Changes the next job: the oldest of the next client, else of the first. */
  #take<Row>(set: string, columns: string, values: number[]): (Row & LeasedJob) | null {
    for (const clientRange of ["client > ?", "client <= ?"] as const) {
      const sql = `UPDATE job SET ${set} WHERE rid = (${nextJobSql(clientRange)}) RETURNING ${columns}`;
      const row = this.database.query(sql).get(...values, this.#last) as (Row & LeasedJob) | null;
      if (!row) continue;
      this.#last = row.client;
      return row;
    }
    return null;
  }

  /**
   * Estimated number of leases until a queued job is leased, 1 for the next: exact if nothing else is submitted, cancelled or
   * finished meanwhile. Per round every other client has one turn, those before this client one more.
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
