import type { AuditEntry } from "../../accounts/audit.ts";

/** Entries of the audit log as sentences. */

/** Whole actions in words; all others follow from object and verb. The name of the object comes last. */
const ACTIONS: Readonly<Record<string, string>> = {
  sign_in: "signed in",
  sign_out: "signed out",
  "service.start": "started the service",
  "service.stop": "stopped the service",
  "session.end": "ended sessions of",
  "session.confirm": "confirmed a session of",
  "account.verify_email": "verified the e-mail address of",
  "link.create": "created a sign-in link for",
  "link.use": "used a sign-in link of",
  "account.create": "added the account",
  "account.password": "set the password of",
  "token.use": "used the token",
  "second_factor.enable": "enabled a second factor of",
  "second_factor.disable": "disabled the second factor of",
  "second_factor.reset": "reset the second factor of",
  "second_factor.recovery_codes": "created recovery codes for",
  "record.evict": "took records out of a location",
  "webhook.secret": "replaced the secret of the webhook",
};

/** Past tenses that do not end in "ed". */
const IRREGULAR: Readonly<Record<string, string>> = {
  make: "made",
  undo: "undid",
  run: "ran",
  set: "set",
  reset: "reset",
  start: "started",
  stop: "stopped",
};

const words = (name: string): string => name.replaceAll(/[_-]/g, " ");

function past(verb: string): string {
  const [first, ...rest] = words(verb).split(" ");
  return [IRREGULAR[first] ?? (first.endsWith("e") ? `${first}d` : `${first}ed`), ...rest].join(" ");
}

const countIn = ({ action, detail }: AuditEntry): number =>
  action.startsWith("record.") && typeof detail.count === "number" ? detail.count : 1;

function didIn(entry: AuditEntry): string {
  const { action, subject } = entry;
  if (ACTIONS[action]) return ACTIONS[action];
  const [object, verb] = action.split(".");
  if (verb === undefined) return words(object);
  const noun = words(object === "record" ? (subject?.kind ?? "record") : object);
  const count = countIn(entry);
  return `${past(verb)} ${count > 1 ? `${count} records (${noun})` : noun}`;
}

/** The name of the object, where the details have it. */
function nameIn(entry: AuditEntry): string | null {
  const { name, username, title } = entry.detail;
  const found = [name, username, title].find((value): value is string => typeof value === "string");
  return countIn(entry) > 1 ? null : (found ?? null);
}

/** An action with its author and object: "admin", "deleted consumable", and the name of the object if it is known. */
export function describeEntry(entry: AuditEntry): { who: string; did: string; name: string | null } {
  const name = nameIn(entry);
  const isOwnSession = entry.action === "sign_in" || entry.action === "sign_out";
  const refused = entry.action === "sign_in" ? "failed to sign in" : `was refused: ${didIn(entry)}`;
  const who = entry.actor ?? (isOwnSession ? name : null) ?? "labd";
  return { who, did: entry.outcome === "done" ? didIn(entry) : refused, name: isOwnSession ? null : name };
}

/** Lists with the records that entries are about, by kind. */
export const SEGMENTS: Readonly<Record<string, string>> = {
  consumable: "stocks/consumables",
  specimen: "stocks/specimen",
  location: "locations",
  equipment: "equipment",
  place: "places",
  address: "addresses",
  project: "core/projects",
  experiment: "assays/experiments",
  assay: "assays/assays",
  annotation_type: "annotationtypes",
  custom_property_type: "custompropertytypes",
  category: "vocabularies/categories",
  term: "vocabularies/terms",
  stocktake: "stocktakes",
};
