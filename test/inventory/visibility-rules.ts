/** A plain model of the rules by which callers see records. */

export interface Person {
  username: string;
  superuser: boolean;
  groups: Set<string>;
}
export interface Grant {
  view: boolean;
  change: boolean;
  delete: boolean;
}
export interface Thing {
  id: string;
  owner: string;
  group: string;
  public: boolean;
  users: Map<string, Grant>;
  groups: Map<string, Grant>;
}
export interface Place extends Thing {
  room: string;
}
export interface Equipment extends Thing {
  name: string;
  place: Place | null;
}
export interface Location extends Thing {
  label: string;
  barcode: string;
  place: Place | null;
  equipment: Equipment | null;
}
export type Caller = Person | null;

const has = (who: Person, of: Thing, right: keyof Grant): boolean =>
  of.users.get(who.username)?.[right] === true ||
  [...who.groups].some((group) => of.groups.get(group)?.[right]);
export const views = (who: Caller, of: Thing): boolean =>
  of.public ||
  (who !== null &&
    (who.superuser || of.owner === who.username || who.groups.has(of.group) || has(who, of, "view")));
export const may = (who: Caller, of: Thing, right: "change" | "delete"): boolean =>
  who !== null && (who.superuser || of.owner === who.username || has(who, of, right));
const behind = <T extends Thing>(who: Caller, of: T | null | undefined): T | null =>
  of && views(who, of) ? of : null;

/** Fields that filters use, with the value that a caller sees. */
export const FIELDS: Record<string, (who: Caller, of: Location) => string | null> = {
  label: (_, of) => of.label,
  barcode: (_, of) => of.barcode,
  owner: (_, of) => of.owner,
  owned_by: (_, of) => of.group,
  place__room: (who, of) => behind(who, of.place)?.room ?? null,
  place__owner: (who, of) => behind(who, of.place)?.owner ?? null,
  equipment: (who, of) => behind(who, of.equipment)?.name ?? null,
  equipment__name: (who, of) => behind(who, of.equipment)?.name ?? null,
  equipment__place__room: (who, of) => behind(who, behind(who, of.equipment)?.place)?.room ?? null,
};
export const OPERATORS: Record<string, (stored: string, typed: string) => boolean> = {
  "==": (stored, typed) => stored === typed,
  ">=": (stored, typed) => stored >= typed,
  "<": (stored, typed) => stored < typed,
  contains: (stored, typed) => stored.includes(typed),
  iendswith: (stored, typed) => stored.toLowerCase().endsWith(typed.toLowerCase()),
};

/** `ordering=equipment` is by what records show of it, which is the id. */
export const ORDERINGS = Object.keys(FIELDS).flatMap((name) =>
  name === "equipment" ? [] : [name, `-${name}`],
);

/** The expected list of locations. */
export function expectedList(
  locations: readonly Location[],
  who: Caller,
  holds: (of: Location) => boolean,
  ordering: string,
): Location[] {
  const key = FIELDS[ordering.replace("-", "")];
  const sign = ordering.startsWith("-") ? -1 : 1;
  return locations
    .filter((of) => views(who, of) && holds(of))
    .sort((a, b) => {
      const [x, y] = [key(who, a), key(who, b)];
      if (x === y) return a.id < b.id ? -1 : 1;
      if (x === null || y === null) return (x === null ? -1 : 1) * sign;
      return (x < y ? -1 : 1) * sign;
    });
}

/** The locations that a search for the beginning of a label finds. */
export function expectedSearch(locations: readonly Location[], who: Caller, q: string) {
  const ids = locations.filter((of) => views(who, of) && of.label.startsWith(q)).map(({ id }) => id);
  return { total: ids.length, ids: ids.toSorted() };
}

/** Total and ids in the answer to a search of locations. */
export function foundIn(body: Record<string, unknown>): ReturnType<typeof expectedSearch> {
  const [group] = body.groups as { total: number; results: { id: string }[] }[];
  return { total: group?.total ?? 0, ids: (group?.results ?? []).map(({ id }) => id).toSorted() };
}

/** The status of a request that needs the right to change a location. */
export function statusFor(who: Caller, of: Location): number {
  if (who === null) return 401;
  if (!views(who, of)) return 404;
  return may(who, of, "change") ? 200 : 403;
}

/** The states in which records and their parts were changed, and in which records were shared, by id. */
export const changed = new Map<string, Thing[]>();
export const shared = new Map<string, Thing[]>();
export const note = (states: Map<string, Thing[]>, id: string, of: Thing): void => {
  const state = { ...of, users: new Map(of.users), groups: new Map(of.groups) };
  states.set(id, [...(states.get(id) ?? []), state]);
};

const PAST = "as_of=2026-01-01T00:00:00Z";
/** Requests about a location that the caller may not view. */
export const HIDDEN: [method: string, path: string, body?: unknown][] = [
  ...["", "?deleted=all", `?${PAST}`, "?explain=1", "history/", "annotations/", `annotations/?${PAST}`].map(
    (more): [string, string] => ["GET", `locations/ID/${more}`],
  ),
  ...["notes/", "notes/?deleted=all", "permissions/", `permissions/?${PAST}`].map(
    (more): [string, string] => ["GET", `locations/ID/${more}`],
  ),
  ["POST", "locations/ID/restore/"],
  ["DELETE", "locations/ID/"],
  ["OPTIONS", "locations/ID/"],
  ["PATCH", "locations/ID/", {}],
  ["PUT", "locations/ID/", {}],
  ["PUT", "locations/ID/permissions/", {}],
  ["GET", "resolver/ID"],
  ["PATCH", "locations/", [{ id: "ID", label: "x" }]],
  ["DELETE", "locations/bulk_delete/?id=ID"],
  ["PATCH", "locations/permissions/", { ids: ["ID"], users: [{ user: "user0", view: true }] }],
];
/** Requests about a note or a file on such a location. */
export const HIDDEN_PARTS = [
  ["GET", ""],
  ["GET", "?deleted=all"],
  ["GET", "history/"],
  ["DELETE", ""],
  ["POST", "restore/"],
];
