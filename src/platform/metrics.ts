/**
 * Metrics in the text exposition format 0.0.4 of Prometheus. Counting is a look-up in a map by the label values; other
 * values are read on request.
 */

type Labels = readonly string[];
/** Label values, and the value. */
export type Sample = readonly [labels: Labels, value: number];

interface Family {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  lines(): Iterable<string>;
}

const SEPARATOR = "\0";

export class Metrics {
  readonly #families: Family[] = [];

  /** A counter; the function adds `by`, 1 by default. */
  counter(name: string, help: string, labels: Labels = []): (values?: Labels, by?: number) => void {
    const counts = new Map<string, number>(labels.length === 0 ? [["", 0]] : []);
    this.#add(name, help, "counter", function* () {
      for (const [key, count] of counts) yield line(name, labels, key.split(SEPARATOR), count);
    });
    return (values = [], by = 1) => {
      const key = values.join(SEPARATOR);
      counts.set(key, (counts.get(key) ?? 0) + by);
    };
  }

  /** A histogram; `bounds` are the upper bounds of its buckets, ascending. */
  histogram(
    name: string,
    help: string,
    labels: Labels,
    bounds: readonly number[],
  ): (value: number, values?: Labels) => void {
    const series = new Map<string, { buckets: number[]; sum: number; count: number }>();
    this.#add(name, help, "histogram", function* () {
      for (const [key, { buckets, sum, count }] of series) {
        const values = key.split(SEPARATOR);
        let below = 0;
        for (const [i, bound] of bounds.entries()) {
          below += buckets[i];
          yield line(`${name}_bucket`, [...labels, "le"], [...values, String(bound)], below);
        }
        yield line(`${name}_bucket`, [...labels, "le"], [...values, "+Inf"], count);
        yield line(`${name}_sum`, labels, values, sum);
        yield line(`${name}_count`, labels, values, count);
      }
    });
    return (value, values = []) => {
      const key = values.join(SEPARATOR);
      let found = series.get(key);
      if (!found) series.set(key, (found = { buckets: bounds.map(() => 0), sum: 0, count: 0 }));
      const bucket = bounds.findIndex((bound) => value <= bound);
      if (bucket >= 0) found.buckets[bucket]++;
      found.sum += value;
      found.count++;
    };
  }

  /** A metric that is read on request. Errors and NaN are left out. */
  ask(
    type: "gauge" | "counter",
    name: string,
    help: string,
    read: () => number | Iterable<Sample>,
    labels: Labels = [],
  ): void {
    this.#add(name, help, type, function* () {
      const found = read();
      for (const [values, value] of typeof found === "number" ? [[[], found] as Sample] : found)
        if (!Number.isNaN(value)) yield line(name, labels, values, value);
    });
  }

  /** The text that Prometheus reads. */
  text(): string {
    return this.#families
      .map(({ name, help, type, lines }) => {
        let found: string[];
        try {
          found = [...lines()];
        } catch {
          found = [];
        }
        return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n${found.join("")}`;
      })
      .join("");
  }

  #add(name: string, help: string, type: Family["type"], lines: Family["lines"]): void {
    this.#families.push({ name, help, type, lines });
  }
}

function line(name: string, labels: Labels, values: Labels, value: number): string {
  const pairs = labels.map((label, i) => `${label}="${escaped(values[i] ?? "")}"`);
  const shown = Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : "-Inf";
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${shown}\n`;
}

const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
