import {
  type AlignedText,
  type Dialect,
  type HomologChoice,
  type Knowledge,
  type PatternRequest,
  type ScoringModel,
  PRIOR,
} from "../../motif/index.ts";

export const STATES = ["queued", "running", "finished", "failed", "cancelled", "expired"] as const;
export type State = (typeof STATES)[number];

interface Transition {
  from: readonly State[];
  to: State;
  meaning: string;
}

/** Every legal change of state. The store's statements are built from these rows, so that no other change can be made. */
export const TRANSITIONS = {
  lease: { from: ["queued"], to: "running", meaning: "A worker gets the job until a deadline." },
  release: {
    from: ["running"],
    to: "queued",
    meaning: "The worker or the process ended before the job; the job keeps its place in the queue.",
  },
  finish: { from: ["running"], to: "finished", meaning: "The worker returned the prediction." },
  reuse: {
    from: ["queued"],
    to: "finished",
    meaning: "An identical job was finished by the same method on the same corpus.",
  },
  fail: {
    from: ["running"],
    to: "failed",
    meaning: "The deadline passed, the worker died twice, or the scoring itself failed.",
  },
  inherit: { from: ["queued"], to: "failed", meaning: "The identical job that it waited for failed." },
  cancel: {
    from: ["queued", "running"],
    to: "cancelled",
    meaning: "The client cancelled it; its worker is stopped.",
  },
  expire: {
    from: ["finished", "failed", "cancelled"],
    to: "expired",
    meaning: "The retention time passed; request and result are deleted.",
  },
} as const satisfies Record<string, Transition>;
export type JobEvent = keyof typeof TRANSITIONS;

/** True if a job in this state has ended. */
export const hasEnded = (state: State): boolean => state !== "queued" && state !== "running";

/** `SET` and `WHERE` of a transition in SQL. */
export function transitionSql(event: JobEvent): { set: string; where: string } {
  const { from, to } = TRANSITIONS[event];
  const states = from.map((state) => `'${state}'`);
  const where = states.length === 1 ? `state = ${states[0]}` : `state IN (${states.join(", ")})`;
  return { set: `state = '${to}'`, where };
}

/** Maximum attempts at a job. A job whose worker dies twice probably causes the crash and is not tried again. */
export const MAX_ATTEMPTS = 2;

/**
 * The number of times that the process may end while a job runs before the job counts as the cause. It is high, because
 * power cuts and upgrades are not its fault.
 */
export const MAX_INTERRUPTIONS = 10;

/** Knowledge beside the sequences that a client leaves out. */
export interface EvidenceChoice {
  /** True if imported features are no evidence. */
  ignoreFeatures?: true | undefined;
  /** True if models of motif classes are not applied. */
  ignoreClassModels?: true | undefined;
  /** Share of true motifs among the matches; absent for the default. */
  prior?: number | undefined;
}

/** The choice of a client; nothing for the default. */
export const readEvidenceChoice = (given: {
  ignoreFeatures?: boolean | undefined;
  ignoreClassModels?: boolean | undefined;
  prior?: number | undefined;
}): EvidenceChoice => ({
  ...(given.ignoreFeatures && { ignoreFeatures: true as const }),
  ...(given.ignoreClassModels && { ignoreClassModels: true as const }),
  ...(given.prior !== undefined && given.prior !== PRIOR && { prior: given.prior }),
});

/** A validated job; its result depends on nothing else but the corpus and the method. */
export interface JobRequest extends EvidenceChoice {
  /** The client's name for the query. */
  identifier: string;
  /** Letters A–Z without white space. */
  query: string;
  model: ScoringModel;
  /** Motif classes are resolved when the job is accepted, so that later imports do not change it. */
  patterns: PatternRequest[];
  /** Absent for the choice of the method. */
  homologs?: HomologChoice | undefined;
  /** Rows of an alignment from the client, the query first: the others are the homologs. Absent for a search. */
  alignment?: readonly AlignedText[] | undefined;
  /** Substitutions in the query that are scored with the homologs of the unchanged one. */
  variant?: string | undefined;
  /** Read when the job is accepted, so that later imports do not change it. */
  knowledge?: Knowledge | undefined;
  /** Hashes of class models by the index of their pattern, chosen at the same time. A lease has them in its knowledge. */
  classModels?: Readonly<Record<number, string>> | undefined;
}

/** The parts of a request that the server adds when it accepts the job. */
export type AcceptedKnowledge = Pick<JobRequest, "knowledge" | "classModels">;

/** The text of a request as its client gave it: repeated requests are recognised by it. */
export function givenRequest(text: string): string {
  const { knowledge: _, classModels: __, ...given } = JSON.parse(text) as JobRequest;
  return JSON.stringify(given);
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7) with 74 random bits, which cannot be guessed. Identifiers of the same time
 * are neighbours in the index, so that a commit of many jobs writes few of its pages.
 * @param random a UUID of version 4
 */
export function jobId(milliseconds: number, random: string): string {
  const time = milliseconds.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

/** SHA-256 of the inputs of a prediction, without the client's identifier. */
export function hashRequest(request: JobRequest): string {
  const { query, model, patterns, homologs, alignment, prior, knowledge, classModels, variant } = request;
  // The words of a digest never change: results are found by it.
  const dialectWord = (dialect: Dialect | undefined) => (dialect === "elm" ? "elm" : "soap");
  const values = patterns.map(({ expression, name, dialect }) => [expression, name, dialectWord(dialect)]);
  const optional = [homologs, alignment, prior, knowledge, classModels, variant];
  const source = optional.filter((one) => one !== undefined);
  const canonical = JSON.stringify([query, model, values, ...source]);
  return new Bun.CryptoHasher("sha256").update(canonical).digest("hex");
}
