/**
 * Units of measurement: their names, symbols and conversions, and exact sums of amounts. Pages bundle this file, so it
 * imports nothing. Symbols and codes are those of UCUM (https://ucum.org), names those of the Unit Ontology.
 */

export interface Unit {
  /** As amounts show it: µL. The text itself, if the unit is not in the table. */
  symbol: string;
  /** microliter; the text itself, if the unit is not in the table. */
  name: string;
  /** Case-sensitive code of UCUM: uL. Empty, if the unit is not in the table. */
  ucum: string;
  /** Units of one dimension convert into each other: "volume", "mass/volume". A unit that is not in the table has its own. */
  dimension: string;
  /** One unit is `multiplier` × 10^`power` base units of the dimension. */
  multiplier: number;
  power: number;
}

export interface Amount {
  value: number;
  /** Symbol, name or alias; "" without a unit. */
  unit: string;
}

interface Base {
  symbol: string;
  name: string;
  ucum: string;
  dimension: string;
  /** Symbols of the prefixes that it takes. */
  prefixes?: string;
  aliases?: readonly string[];
  multiplier?: number;
  power?: number;
}

/** Power of ten, name, and UCUM code where it differs from the symbol. */
const PREFIXES: Readonly<Record<string, readonly [number, string, ucum?: string]>> = {
  k: [3, "kilo"],
  c: [-2, "centi"],
  m: [-3, "milli"],
  µ: [-6, "micro", "u"],
  n: [-9, "nano"],
  p: [-12, "pico"],
  f: [-15, "femto"],
};

const NUMBER_OF = "number of ";
const count = (name: string, ...[plural = `${name}s`, ...aliases]: string[]): Base => ({
  symbol: name,
  name,
  ucum: `{${name}}`,
  dimension: NUMBER_OF + plural,
  aliases: [plural, ...aliases],
});

const BASES: readonly Base[] = [
  {
    symbol: "L",
    name: "liter",
    ucum: "L",
    dimension: "volume",
    prefixes: "mµn",
    aliases: ["litre", "ltr", "ls"],
  },
  {
    symbol: "g",
    name: "gram",
    ucum: "g",
    dimension: "mass",
    prefixes: "kmµnp",
    aliases: ["gramme", "gr", "gm"],
  },
  { symbol: "mol", name: "mole", ucum: "mol", dimension: "substance", prefixes: "mµnpf" },
  { symbol: "M", name: "molar", ucum: "mol/L", dimension: "substance/volume", prefixes: "mµnpf" },
  {
    symbol: "U",
    name: "units",
    ucum: "U",
    dimension: "activity",
    prefixes: "km",
    aliases: ["unit", "enzyme unit", "IU"],
  },
  { symbol: "%", name: "percent", ucum: "%", dimension: "fraction", aliases: ["pct"] },
  { symbol: "×", name: "fold", ucum: "{fold}", dimension: "strength", aliases: ["x", "times"] },
  { symbol: "m", name: "meter", ucum: "m", dimension: "length", prefixes: "cmµn", aliases: ["metre"] },
  { symbol: "s", name: "second", ucum: "s", dimension: "time", prefixes: "m", aliases: ["sec"] },
  { symbol: "min", name: "minute", ucum: "min", dimension: "time", multiplier: 6, power: 1 },
  {
    symbol: "h",
    name: "hour",
    ucum: "h",
    dimension: "time",
    aliases: ["hr", "hrs"],
    multiplier: 36,
    power: 2,
  },
  { symbol: "d", name: "day", ucum: "d", dimension: "time", multiplier: 864, power: 2 },
  { symbol: "bp", name: "base pairs", ucum: "{bp}", dimension: "base pairs", aliases: ["base pair"] },
  // Between the two is a difference, not a factor.
  {
    symbol: "°C",
    name: "degree Celsius",
    ucum: "Cel",
    dimension: "temperature in °C",
    aliases: ["degC", "C"],
  },
  { symbol: "K", name: "kelvin", ucum: "K", dimension: "temperature in K" },
  count("piece", "pieces", "pc", "pcs", "item", "ea", "each"),
  count("tube"),
  count("vial"),
  count("bottle"),
  count("box", "boxes"),
  count("pack", "packs", "pk", "package"),
  count("kit"),
  count("plate"),
  count("reaction", "reactions", "rxn", "rxns", "prep"),
  count("cell"),
];

/** The unit of a base with one of its prefixes, or with none. */
function prefixed({ symbol, name, ucum, dimension, multiplier = 1, power = 0 }: Base, prefix: string): Unit {
  const [more, word, code = prefix] = prefix === "" ? [0, "", ""] : PREFIXES[prefix];
  return {
    symbol: prefix + symbol,
    name: word + name,
    ucum: code + ucum,
    dimension,
    multiplier,
    power: power + more,
  };
}

/** The spellings of a unit besides upper and lower case. */
function spellings({ name, symbol, aliases = [] }: Base, prefix: string, { ucum }: Unit): string[] {
  const long = [name, ...aliases.filter((alias) => alias.length > 2)];
  const words = long.flatMap((word) => (word.endsWith("s") ? [word] : [word, `${word}s`]));
  const named = words.map((word) => (prefix === "" ? word : PREFIXES[prefix][1] + word));
  const short = [symbol, ...aliases].flatMap((text) =>
    prefix === "µ" ? [`µ${text}`, `u${text}`] : [prefix + text],
  );
  return [...short, ucum, ...named];
}

const TABLE = BASES.flatMap((base) =>
  ["", ...(base.prefixes ?? "")].map((prefix) => {
    const unit = prefixed(base, prefix);
    return { unit, spellings: spellings(base, prefix, unit) };
  }),
);

/** All units of the table besides quotients such as mg/mL. */
export const UNITS: readonly Unit[] = TABLE.map(({ unit }) => unit);

/** Units by their spellings; and by those in lower case, null where two units share one. */
const [EXACT, FOLDED] = ((): [Map<string, Unit>, Map<string, Unit | null>] => {
  const exact = new Map<string, Unit>();
  const folded = new Map<string, Unit | null>();
  for (const { unit, spellings } of TABLE)
    for (const spelling of spellings) {
      if (!exact.has(spelling)) exact.set(spelling, unit);
      const lower = spelling.toLowerCase();
      const other = folded.get(lower);
      folded.set(lower, other === undefined || other === unit ? unit : null);
    }
  return [exact, folded];
})();

/** Both code points of µ and any blanks are read alike. */
const normalize = (text: string): string =>
  text.trim().replaceAll("\u03BC", "µ").replace(/\.$/, "").replaceAll(/\s+/g, " ");

const findSimple = (text: string): Unit | undefined =>
  EXACT.get(text) ?? FOLDED.get(text.toLowerCase()) ?? undefined;

/** The unit that a symbol, name or alias means, or a quotient of two such as ng/µl; undefined if it is not in the table. */
export function findUnit(text: string): Unit | undefined {
  const spelled = normalize(text);
  const simple = findSimple(spelled);
  if (simple) return simple;
  const [above, below, ...more] = spelled.split(/ per | ?\/ ?/i).map(findSimple);
  if (!above || below?.multiplier !== 1 || more.length > 0) return undefined;
  return {
    symbol: `${above.symbol}/${below.symbol}`,
    name: `${above.name} per ${below.name}`,
    ucum: `${above.ucum}/${below.ucum}`,
    dimension: `${above.dimension}/${below.dimension}`,
    multiplier: above.multiplier,
    power: above.power - below.power,
  };
}

/** The unit of a text. One that is not in the table converts only into itself. */
export function readUnit(text: string): Unit {
  const spelled = normalize(text);
  const own = {
    symbol: spelled,
    name: spelled,
    ucum: "",
    dimension: `unit ${spelled}`,
    multiplier: 1,
    power: 0,
  };
  return findUnit(text) ?? own;
}

/** The unit that a term means: by its name or, if the table does not have that, its label. */
export const termUnit = (name: string, label: string): Unit =>
  findUnit(name) ?? findUnit(label) ?? readUnit(name);

/** The symbol of a unit: "µg/mL" for "microgram per milliliter". Other names stay as they are. */
export const unitSymbol = (name: string): string =>
  findUnit(name)?.symbol ??
  name
    .split(" per ")
    .map((part) => findSimple(part)?.symbol ?? part)
    .join("/");

/** True if amounts in both units can be added. */
export const isConvertible = (one: string, other: string): boolean =>
  readUnit(one).dimension === readUnit(other).dimension;

/** Symbols of the units that a unit converts into, itself first. */
export function convertibleUnits(unit: string): string[] {
  const { symbol, dimension } = readUnit(unit);
  return [
    ...new Set([
      symbol,
      ...UNITS.filter((other) => other.dimension === dimension).map((other) => other.symbol),
    ]),
  ];
}

/** A number as integer × 10^power: exactly the digits that it is written with. */
function toDecimal(value: number): [digits: bigint, power: number] {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(
    String(value),
  )!;
  return [BigInt(sign + whole + fraction), Number(exponent) - fraction.length];
}

/** Decimal digits of a quotient that does not end. */
const DIGITS = 25;

/**
 * The sum of amounts in the given unit, exact in decimals: 0.1 mL + 200 µL is 0.3 mL. Undefined if a unit does not
 * convert into it.
 */
export function addAmounts(amounts: readonly Amount[], unit: string): number | undefined {
  const target = readUnit(unit);
  const parts = amounts.map(({ value, unit: own }) => {
    const { dimension, multiplier, power } = readUnit(own);
    const [digits, exponent] = toDecimal(value);
    return { dimension, digits: digits * BigInt(multiplier), power: power + exponent };
  });
  if (parts.some(({ dimension }) => dimension !== target.dimension)) return undefined;
  const least = Math.min(0, ...parts.map(({ power }) => power));
  const sum = parts.reduce((total, { digits, power }) => total + digits * 10n ** BigInt(power - least), 0n);
  const divisor = BigInt(target.multiplier);
  const isWhole = sum % divisor === 0n;
  const digits = isWhole ? sum / divisor : (sum * 10n ** BigInt(DIGITS)) / divisor;
  return Number(`${digits}e${least - target.power - (isWhole ? 0 : DIGITS)}`);
}

/** An amount in another unit; undefined if the units have different dimensions. */
export const convertAmount = (amount: Amount, unit: string): number | undefined => addAmounts([amount], unit);

/** The rest of an amount, in its unit, after a use; undefined if the units have different dimensions. */
export const subtractAmount = (from: Amount, { value, unit }: Amount): number | undefined =>
  addAmounts([from, { value: -value, unit }], from.unit);

/** The amount in the unit that reads best: the largest prefix that leaves at least 1. 0.0005 L is 500 µL. */
export function readableAmount(amount: Amount): Amount {
  const { symbol, dimension } = readUnit(amount.unit);
  const choices = UNITS.filter((unit) => unit.dimension === dimension && unit.multiplier === 1)
    .filter(({ symbol }) => symbol !== "cm")
    .toSorted((a, b) => b.power - a.power);
  const inUnit = ({ symbol }: Unit): number => convertAmount(amount, symbol)!;
  const best = choices.find((unit) => Math.abs(inUnit(unit)) >= 1) ?? choices.at(-1);
  if (!best || amount.value === 0) return { value: amount.value, unit: symbol };
  return { value: inUnit(best), unit: best.symbol };
}

/** The difference of two amounts of one unit, exact in decimals: from 1 to 0.8 mL, `200 µL`. */
export const formatDecrease = (from: number, to: number, unit: string): string =>
  formatAmount({ value: subtractAmount({ value: from, unit }, { value: to, unit })!, unit });

/** `500 µL`, `2 tubes`: in the unit that reads best. */
export function formatAmount(amount: Amount): string {
  const { value, unit } = readableAmount(amount);
  const { dimension } = readUnit(unit);
  const isPlural = dimension.startsWith(NUMBER_OF) && value !== 1;
  return `${value} ${isPlural ? dimension.slice(NUMBER_OF.length) : unitSymbol(unit)}`.trim();
}
