import { type Static, Type } from "typebox";
import { type Clock, timestamp } from "../platform/clock.ts";
import type { Answer } from "../platform/http.ts";
import { newSecret } from "../platform/secret.ts";
import { answerSchema, nullable } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { OperationRequest } from "./declared-call.ts";
import { type AssistantCaller, callOperation } from "./dispatch.ts";

export const PlannedChange = answerSchema("A change that waits for a person, or was made.", {
  id: Type.String({ description: "Id of the plan." }),
  done: Type.Boolean({ description: "False: nothing was changed yet; a person must confirm it." }),
  records: Type.Integer({ description: "Number of records that change." }),
  sentences: Type.Array(Type.String(), { description: "The first changes, each in a sentence." }),
  exposes: Type.Integer({ description: "Records that more people could view." }),
  expires: nullable(Type.String({ description: "When it can no longer be confirmed." })),
  batch: nullable(Type.String({ description: "Id of the change that was made, by which it can be undone." })),
});
export type PlannedChange = Static<typeof PlannedChange>;

interface Plan {
  id: string;
  request: OperationRequest;
  caller: Pick<AssistantCaller, "user" | "token">;
  /** Digest of the changes and of the records before them, from the dry run. */
  digest: string;
  shown: PlannedChange;
  expires: number;
}

const MINUTES = 15;
/** Plans of an account; the oldest ones make room. */
const MAX_PLANS = 50;

/** Changes that assistants have asked for and no person has confirmed yet. A restart forgets them. */
export class PlannedChanges {
  readonly #plans = new Map<string, Plan>();

  constructor(
    private readonly answer: Answer,
    private readonly clock: Clock,
  ) {}

  /** Plans a change with a dry run. @throws Problem of the operation */
  async plan(request: OperationRequest, caller: AssistantCaller): Promise<PlannedChange> {
    const { value } = await callOperation(this.answer, withParameter(request, "dry_run=1"), caller);
    const { confirm, records, sentences, exposes } = value as unknown as DryRun;
    const now = this.clock.now();
    const expires = now + MINUTES * 60_000;
    const id = newSecret("");
    const shown = {
      id,
      done: false,
      records,
      sentences,
      exposes: exposes.length,
      expires: timestamp(expires),
      batch: null,
    };
    const { user, token } = caller;
    const own = [...this.#plans.values()].filter((plan) => plan.caller.user === user);
    for (const plan of this.#plans.values()) if (plan.expires <= now) this.#plans.delete(plan.id);
    if (own.length >= MAX_PLANS) this.#plans.delete(own[0].id);
    this.#plans.set(id, { id, request, caller: { user, token }, digest: confirm, shown, expires });
    return shown;
  }

  /** @throws Problem not_found */
  show(id: string, { user }: { user: number }): PlannedChange {
    return this.#find(id, user).shown;
  }

  /** Drops a plan. @throws Problem not_found */
  reject(id: string, { user }: { user: number }): void {
    this.#plans.delete(this.#find(id, user).id);
  }

  /**
   * Makes a planned change, once; if the records have changed since, plans it again instead. An assistant confirms only
   * plans of its own token, a person in a browser those of the account.
   * @throws Problem not_found for a plan that is unknown, used or expired; what the operation throws
   */
  async confirm(id: string, caller: AssistantCaller): Promise<PlannedChange> {
    const plan = this.#find(id, caller.user);
    if (caller.token !== null && caller.token !== plan.caller.token) throw expired();
    this.#plans.delete(id);
    const confirmed = withParameter(plan.request, `confirm=${plan.digest}`);
    try {
      const { headers } = await callOperation(this.answer, confirmed, caller, { "idempotency-key": id });
      const batch = headers.get("batch-id");
      return { ...plan.shown, done: true, expires: null, batch };
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "conflict") {
        // It can be tried again; the key keeps it from being made twice.
        this.#plans.set(id, plan);
        throw error;
      }
      return this.plan(plan.request, { ...caller, token: plan.caller.token });
    }
  }

  #find(id: string, user: number | null): Plan {
    const plan = this.#plans.get(id);
    if (!plan || plan.caller.user !== user || plan.expires <= this.clock.now()) throw expired();
    return plan;
  }
}

interface DryRun {
  confirm: string;
  records: number;
  sentences: string[];
  exposes: unknown[];
}

const withParameter = (request: OperationRequest, parameter: string): OperationRequest => ({
  ...request,
  target: `${request.target}${request.target.includes("?") ? "&" : "?"}${parameter}`,
});

const expired = (): Problem =>
  new Problem(
    "not_found",
    "There is no such change to confirm: it was confirmed or rejected, or it has expired. Ask the assistant again.",
  );
