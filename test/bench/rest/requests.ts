/** The requests of rest.bench.ts: each kind varies at random, so that a response that is cached is of little use. */

export type Random = (below: number) => number;

/** Pseudo-random whole numbers (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

export const USERS = 50;
export const GROUPS = 10;
export const TYPES = ["TEXT", "JSON", "OBJECT", "DMAPPANNOTATION"];

export const makeId = (kind: number, i: number): string =>
  `${kind}0000000-0000-4000-8000-${String(i).padStart(12, "0")}`;

export interface Kind {
  readonly name: string;
  /** A random path below the base URL. */
  path(random: Random, records: number): string;
  readonly users: readonly ("admin" | "user0")[];
  /** Of labd alone: the peer has no annotations. */
  readonly own?: true;
}

const BOTH = ["admin", "user0"] as const;
const digits = (random: Random, count: number): string => String(random(10 ** count)).padStart(count, "0");
/** A page that exists for user0 too, who may view six of ten records. */
const page = (random: Random, records: number): number => 1 + random(Math.floor((records * 0.6) / 50));
/** A record that user0 may view: a public one or its group's. */
const visible = (random: Random, records: number): number =>
  random(Math.floor(records / 10)) * 10 + [0, 1, 3, 5, 7, 9][random(6)];
/** One of the first twenty pages of a list; of some types user0 may view one record of twenty. */
const early = (random: Random, records: number): number =>
  1 + random(Math.min(20, Math.floor(records / 20 / 50)));

export const KINDS: readonly Kind[] = [
  { name: "first page", path: () => "annotationtypes/", users: BOTH },
  { name: "first page of locations", path: () => "locations/", users: BOTH },
  {
    name: "random page",
    path: (random, records) => `annotationtypes/?page=${page(random, records)}`,
    users: BOTH,
  },
  {
    name: "random page of locations",
    path: (random, records) => `locations/?page=${page(random, records)}`,
    users: BOTH,
  },
  {
    name: "type",
    path: (random, records) => `annotationtypes/?type=${TYPES[random(4)]}&page=${early(random, records)}`,
    users: BOTH,
  },
  { name: "prefix", path: (random) => `annotationtypes/?name=type_00${digits(random, 2)}`, users: BOTH },
  {
    name: "type and prefix",
    path: (random) => `annotationtypes/?type=${TYPES[random(4)]}&name=type_00${digits(random, 1)}`,
    users: BOTH,
  },
  {
    name: "nested ordering",
    path: (random, records) =>
      `annotationtypes/?ordering=owner__username,-created&page=${early(random, records)}`,
    users: BOTH,
  },
  {
    name: "nested ordering of locations",
    path: (random, records) =>
      `locations/?ordering=-created_by__username,label&page=${early(random, records)}`,
    users: BOTH,
  },
  {
    name: "description, rare",
    path: (random) => `annotationtypes/?description=number+${random(1000)}+of`,
    users: BOTH,
  },
  {
    name: "description, two digits",
    path: (random) => `locations/?description=${digits(random, 2)}`,
    users: BOTH,
  },
  { name: "query, rare word", path: (random, records) => `locations/?query=${random(records)}`, users: BOTH },
  { name: "query, two words", path: (random) => `locations/?query=box+${100 + random(900)}`, users: BOTH },
  { name: "query, two letters", path: (random) => `locations/?query=${digits(random, 2)}`, users: BOTH },
  { name: "query, one letter", path: (random) => `locations/?query=${random(10)}`, users: BOTH },
  {
    name: "annotation, one of forty",
    path: (random, records) =>
      `locations/?annotations__strain=strain+${random(40)}&page=${1 + random(Math.max(1, Math.floor(records / 40 / 100)))}`,
    users: BOTH,
    own: true,
  },
  {
    name: "annotation, prefix",
    path: (random) => `locations/?annotations__lot__istartswith=lot+${digits(random, 2)}`,
    users: BOTH,
    own: true,
  },
  {
    name: "range of a field",
    path: (random, records) =>
      `locations/?created__gte=${new Date(1_700_000_000_000 + random(records) / 1000).toISOString()}&modified__lt=2100-01-01`,
    users: BOTH,
    own: true,
  },
  {
    name: "annotation, range",
    path: (random) =>
      `locations/?annotations__dilution__gte=${random(5000)}&annotations__received__lt=2025-01-01`,
    users: BOTH,
    own: true,
  },
  {
    name: "field, contains",
    path: (random) => `locations/?description__icontains=number+${random(1000)}+of`,
    users: BOTH,
    own: true,
  },
  {
    name: "annotation, contains",
    path: (random) => `locations/?annotations__remark__icontains=number+${random(1000)}+of`,
    users: BOTH,
    own: true,
  },
  {
    name: "annotation ordering",
    path: (random, records) =>
      `locations/?ordering=annotations__strain,-annotations__dilution&page=${early(random, records)}`,
    users: BOTH,
    own: true,
  },
  {
    name: "annotation columns",
    path: (random, records) => `locations/?fields=label,annotations__*&page=${page(random, records)}`,
    users: BOTH,
    own: true,
  },
  {
    name: "values of a field",
    path: (random, records) =>
      `locations/values/?field=created_by&query=box+${random(Math.floor(records / 100))}`,
    users: BOTH,
    own: true,
  },
  {
    name: "values of an annotation",
    path: (random, records) =>
      `locations/values/?field=annotations__strain&query=box+${random(Math.floor(records / 100))}`,
    users: BOTH,
    own: true,
  },
  {
    name: "any record",
    path: (random, records) => `annotationtypes/${makeId(1, visible(random, records))}/`,
    users: BOTH,
  },
];

export interface Write {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: object;
}

/** A new location. */
export const creation = (i: number): Write => ({
  method: "POST",
  path: "locations/",
  body: { label: `New ${i}`, description: "Created by the benchmark" },
});

/** A write to the records that requests of this kind read: half of those to locations create one. */
export function writeBeside(path: string, random: Random, records: number): Write {
  const isLocation = path.startsWith("locations/");
  if (isLocation && random(2) === 0) return creation(random(1e6));
  const i = random(records);
  return {
    method: "PATCH",
    path: `${isLocation ? "locations" : "annotationtypes"}/${makeId(isLocation ? 2 : 1, i)}/`,
    body: { description: `Description of thing ${i}, number ${random(1000)} of its kind` },
  };
}
