import { type BlockList, isIP } from "node:net";
import { Problem } from "../problem.ts";
import { isAllowedAddress } from "./address.ts";
import type { RecordFilter } from "../inventory/index.ts";
import { EVENTS } from "./events.ts";

/** Which addresses a webhook may have. */
export interface UrlPolicy {
  /** Networks that may be called besides public addresses. */
  allowed: BlockList;
  /** Whether addresses may begin with http:. */
  plain: boolean;
}

/** What somebody wants to be told of, and where. */
export interface WebhookInput extends RecordFilter {
  url: string;
  events: string[];
}

export const wrong = (name: string, error: string): Problem =>
  new Problem("invalid_request", `${name}: ${error}`, { fields: { [name]: [error] } });

/** Refuses names that are none of the choices. @throws Problem invalid_request that names the field */
export function refuseOthers(body: Record<string, unknown>, choices: readonly string[]): void {
  for (const name of Object.keys(body))
    if (!choices.includes(name))
      throw wrong(/^\w{1,60}$/.test(name) ? name : "non_field_errors", `Choices: ${choices.join(", ")}.`);
}

/** @throws Problem invalid_request that names the field */
export function parseWebhook(body: Record<string, unknown>, allowed: UrlPolicy): WebhookInput {
  refuseOthers(body, ["url", "events", "resource", "query_expression"]);
  return {
    url: readUrl(body.url, allowed),
    events: readEvents(body.events),
    resource: readOptional(body, "resource"),
    expression: readOptional(body, "query_expression"),
  };
}

function readUrl(typed: unknown, { plain, allowed }: UrlPolicy): string {
  if (typeof typed !== "string" || typed.length > 2000 || !URL.canParse(typed))
    throw wrong("url", "Expected an address that begins with https://.");
  const url = new URL(typed);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && plain))
    throw wrong("url", `It begins with https://${plain ? " or http://" : " (setting webhook_http)"}.`);
  if (url.username !== "" || url.password !== "") throw wrong("url", "It holds no name or password.");
  const name = url.hostname.replace(/^\[|\]$/g, "");
  // Names are looked up whenever they are called: what they say now says nothing.
  if (isIP(name) !== 0 && !isAllowedAddress(name, allowed))
    throw wrong("url", `${name} is no public address, nor in a network of the setting webhook_allow.`);
  url.hash = "";
  return url.href;
}

function readEvents(typed: unknown): string[] {
  if (typed === undefined) return [...EVENTS];
  const known: readonly unknown[] = EVENTS;
  if (!Array.isArray(typed) || typed.length === 0 || !typed.every((event) => known.includes(event)))
    throw wrong("events", `Expected a list of some of ${EVENTS.join(", ")}.`);
  return [...new Set(typed as string[])];
}

function readOptional(body: Record<string, unknown>, name: string): string | null {
  const typed = body[name] ?? null;
  if (typed !== null && (typeof typed !== "string" || typed === "" || typed.length > 10_000))
    throw wrong(name, "Expected a text, or null.");
  return typed as string | null;
}

/** Hours for which a former secret goes on. @throws Problem invalid_request */
export function parseOverlap(body: Record<string, unknown>): number {
  refuseOthers(body, ["overlap_hours"]);
  const hours = body.overlap_hours ?? DEFAULT_OVERLAP;
  if (!Number.isInteger(hours) || Number(hours) < 0 || Number(hours) > MAX_OVERLAP)
    throw wrong("overlap_hours", `Expected a whole number from 0 to ${MAX_OVERLAP}.`);
  return Number(hours);
}

/** Hours. */
export const DEFAULT_OVERLAP = 24;
export const MAX_OVERLAP = 720;
