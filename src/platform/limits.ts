/** A limit of one request, or of all together. "More than 20 words in one search. Use fewer words." is its error. */
export interface Limit {
  max: number;
  of: string;
  /** Advice for requests that need less. */
  instead: string;
}

/** Limits of every service; the last two apply to all requests together. */
export const LIMITS = {
  containers: { max: 1_000_000, of: "lists and objects in one JSON body", instead: "Split the request." },
  members: { max: 10_000, of: "members in one JSON object or form", instead: "Split the request." },
  url: {
    max: 65_536,
    of: "characters in a URL",
    instead: "Send the parameters of a list in the body of a POST to its search/.",
  },
  bodies: {
    max: 67_108_864,
    of: "bytes of request bodies in flight",
    instead: "Try again when others have arrived.",
  },
  responses: {
    max: 134_217_728,
    of: "bytes of responses that clients have yet to read",
    instead: "Read the open responses, or request smaller pages.",
  },
} as const satisfies Record<string, Limit>;

/** The error of a request above the limit. */
export const exceeded = ({ max, of, instead }: Limit): string =>
  `More than ${max.toLocaleString("en")} ${of}. ${instead}`;

/** Bytes of each body that are not counted, so that small requests pass while large ones wait. */
export const SMALL_BODY = 65_536;
