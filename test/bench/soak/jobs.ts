import { pick } from "../../scoring/contract/random-message.ts";
import { E7, element, inEnvelope, NAMESPACE, runJobMessage } from "../../executable/labd.ts";
import type { KnownJob } from "./ledger.ts";
import { json, type Lane, recordOutcome, recordWrong, type Reply, send } from "./lane.ts";

const PATTERNS = ["L.C.E", "[ST]P", "D[DE]E", "C..C"];
const INVALID_JOBS = [
  ["MK7", "A"],
  [E7, "(("],
];
const JOBS = "/api/scoring/jobs";

/** Submits jobs over SOAP and JSON, polls them, fetches results, cancels some, and sends invalid ones. */
export class JobClient {
  readonly jobs: KnownJob[] = [];
  readonly #lane: Lane;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  async run(): Promise<void> {
    const { next } = this.#lane;
    while (!this.#lane.stopped()) {
      const draw = next();
      if (draw < 0.25) await this.submit();
      else if (draw < 0.65) await this.poll();
      else if (draw < 0.9) await this.fetchResult();
      else if (draw < 0.95) await this.submitInvalid();
      else await this.cancel();
      // One processor scores about fifty of these jobs per second.
      await Bun.sleep(next() * 40);
    }
  }

  async submit(): Promise<void> {
    const { next } = this.#lane;
    // Some queries repeat, so that results are shared; the others are unique.
    const tail =
      next() < 0.3 ? "" : Array.from({ length: 6 }, () => pick(next, [..."ACDEFGHIKLMNPQRSTVWY"])).join("");
    const request = { sequence: E7 + tail, pattern: pick(next, PATTERNS) };
    const [reply, isSoap] = await this.#sendJob(request.sequence, request.pattern);
    const outcome = recordOutcome(
      this.#lane,
      isSoap ? "RunJob" : "submit job",
      reply,
      isSoap ? [200] : [202],
    );
    if (outcome !== "accepted") return;
    const id = isSoap ? element(reply!.text, "JobIdentifier")! : (json(reply!).id as string);
    this.jobs.push({ id, ...request, cancelled: "no", result: null });
  }

  async submitInvalid(): Promise<void> {
    const [sequence, pattern] = pick(this.#lane.next, INVALID_JOBS);
    const [reply, isSoap] = await this.#sendJob(sequence, pattern);
    const outcome = recordOutcome(this.#lane, "invalid job", reply, isSoap ? [500] : [400]);
    if (outcome === "accepted") recordWrong(this.#lane, "invalid job", "was accepted");
  }

  async poll(): Promise<void> {
    const job = this.#recentJob();
    if (!job) return;
    const isSoap = this.#lane.next() < 0.5;
    const reply = isSoap
      ? await this.#soapRequest("GetStatus", job)
      : await send(this.#lane, "GET", `${JOBS}/${job.id}`);
    recordOutcome(this.#lane, isSoap ? "GetStatus" : "poll job", reply, [200]);
  }

  async fetchResult(): Promise<void> {
    const job = this.#recentJob();
    if (!job) return;
    if (this.#lane.next() < 0.3) {
      const reply = await this.#soapRequest("GetResult", job);
      recordOutcome(this.#lane, "GetResult", reply, job.cancelled === "no" ? [200] : [200, 500]);
      return;
    }
    const reply = await send(this.#lane, "GET", `${JOBS}/${job.id}/result?format=tsv`);
    // 409: not finished yet, or cancelled.
    if (recordOutcome(this.#lane, "fetch result", reply, [200, 409]) !== "accepted") return;
    if (job.result !== null && job.result !== reply!.text)
      recordWrong(this.#lane, "fetch result", `${job.id} changed: ${reply!.text}`);
    job.result = reply!.text;
  }

  async cancel(): Promise<void> {
    const job = this.jobs.at(-1);
    if (!job || job.result !== null || job.cancelled !== "no") return;
    const reply = await send(this.#lane, "DELETE", `${JOBS}/${job.id}`);
    const outcome = recordOutcome(this.#lane, "cancel job", reply, [200, 204, 409]);
    if (outcome === "accepted") job.cancelled = "yes";
    else if (outcome === "unknown") job.cancelled = "possibly";
  }

  #recentJob(): KnownJob | null {
    return this.jobs.length === 0 ? null : pick(this.#lane.next, this.jobs.slice(-30));
  }

  async #sendJob(sequence: string, pattern: string): Promise<[Reply | null, isSoap: boolean]> {
    const isSoap = this.#lane.next() < 0.5;
    if (isSoap) return [await this.#soap(runJobMessage({ sequence, patterns: [pattern] })), isSoap];
    const body = { identifier: "test", querySequence: sequence, patterns: [pattern] };
    return [await send(this.#lane, "POST", JOBS, body), isSoap];
  }

  #soapRequest(operation: string, { id }: KnownJob): Promise<Reply | null> {
    const body = `<JobIdentifier>${id}</JobIdentifier>`;
    return this.#soap(inEnvelope(`<${operation} xmlns="${NAMESPACE}">${body}</${operation}>`));
  }

  #soap(message: string): Promise<Reply | null> {
    const headers = { "Content-Type": "text/xml; charset=utf-8" };
    return send(this.#lane, "POST", "/soap/ConservationScorer", message, headers);
  }
}
