import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { unzipAll } from "../unzip.ts";

/** A folder with one file per answer, without what differs from run to run, and the comparison of two such folders. */

/** Parts of answers that differ from run to run, and what is recorded instead. */
const VARIABLE: readonly [RegExp, string][] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g, "ID"],
  [/\b\d+\.\d+\.\d+(\+\d+)?\.g[0-9a-f]{7,40}\b|\b\d+\.\d+\.\d+\+\d+\b/g, "VERSION"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, "TIME"],
  [/\b\d{8}T\d{6}(\.?\d{3})?Z/g, "TIME"],
  [/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, "TIME"],
  [/(127\.0\.0\.1|localhost):\d+/g, "HOST"],
  [/\b\d+(\.\d+)? ?(ms|s|µs|seconds?|minutes?|min|h)\b/g, "DURATION"],
  [/\b(duration|seconds|milliseconds|ms|elapsed\w*|uptime\w*)": [\d.]+/g, '$1": DURATION'],
  [/\b1[789]\d{11}\b/g, "TIME"],
  [/\b\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d\b/g, "TIME"],
  [/\b(labd_|whsec_|key=)[\w/+=-]{6,}/g, "$1SECRET"],
  [/"(secret|uri|token|csrf_token|cursor|next_cursor|hash|head)": ?"[^"]*"/g, '"$1": "SECRET"'],
  [/^(set-cookie: \w+)=[^;]+/gm, "$1=SECRET"],
  [/\b([0-9a-f]{64}|[0-9a-f]{32})\b/g, "HASH"],
  [/\bproteome-[0-9a-f]{8}\b/g, "proteome-HASH"],
  [/\bmsg_[0-9a-f]{32}\b/g, "MESSAGE"],
  [/^(etag: )(W\/)?("|&quot;).*/gim, "$1$2"],
  [/^ *"[01]{21,}",?$/gm, "MODULES"],
  [/\b\d+(\.\d+)? ?([kMG]B|bytes)\b/g, "SIZE"],
  [/"(\w*bytes|size|free|waiting|seq|memory|log|attempts)": ?\d+/g, '"$1": NUMBER'],
  [/ r="([A-Z]*)\d+"/g, ' r="$1"'],
  [/^.*\b\d+ of \d+ proteins, .* left\n/gm, ""],
];
/** Headers that differ from run to run, or repeat the size of the body. */
const LEFT_OUT = /^(date|content-length|content-security-policy|server-timing|connection|transfer-encoding)$/;

export class Recording {
  private readonly variable = [...VARIABLE];

  constructor(private readonly folder: string) {}

  /** Replaces a text of this run, such as the name of its directory, by `name` from now on. */
  hide(text: string, name: string): void {
    this.variable.unshift([new RegExp(RegExp.escape(text), "g"), name]);
  }

  normalise(text: string): string {
    return this.variable.reduce((found, [pattern, name]) => found.replace(pattern, name), text);
  }

  write(name: string, content: string | Uint8Array): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? this.normalise(content) : content);
  }

  /** Writes status, headers and body of an answer. A body that goes on is recorded as far as it came in ten seconds. */
  async writeAnswer(name: string, asked: string, response: Response): Promise<string> {
    const headers = [...response.headers].filter(([key]) => !LEFT_OUT.test(key));
    const bytes = await readAll(response);
    const body = bodyText(bytes, response.headers.get("content-type") ?? "");
    const lines = [
      asked,
      `${response.status}`,
      ...headers.map((pair) => pair.join(": ")).toSorted(),
      "",
      body,
    ];
    this.write(`${name}.txt`, lines.join("\n"));
    return new TextDecoder().decode(bytes);
  }
}

async function readAll(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const reader = response.body?.getReader();
  const timer = setTimeout(() => void reader?.cancel(), 10_000);
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
    chunks.push(read.value);
  clearTimeout(timer);
  return Buffer.concat(chunks);
}

/** A body as lines of text: JSON with one member per line, the files of an archive, the hash of other bytes. */
export function bodyText(bytes: Uint8Array, type: string): string {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b)
    return [...unzipAll(bytes)].map(([name, content]) => `== ${name}\n${bodyText(content, name)}`).join("\n");
  const text = Buffer.from(bytes).toString("utf8");
  if (text.startsWith("%PDF")) return `PDF with ${text.match(/\/Type \/Page\b/g)?.length} pages`;
  if (!Buffer.from(text).equals(Buffer.from(bytes)) || text.includes("\0"))
    return `${bytes.length} bytes ${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}`;
  if (!/json/.test(type) || text === "") return text.replaceAll("><", ">\n<");
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

/** Names of all files of a recording. */
const namesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/** The lines that only one of two texts has, with their counts. */
function lineDifference(a: string, b: string): string[] {
  const counts = new Map<string, number>();
  for (const line of a.split("\n")) counts.set(line, (counts.get(line) ?? 0) - 1);
  for (const line of b.split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(
      ([line, count]) =>
        `${count < 0 ? "-" : "+"}${Math.abs(count) > 1 ? ` ${Math.abs(count)} ×` : ""} ${line}`,
    );
}

/**
 * Compares two recordings.
 * @returns the differences; equal ones as one, with the names of the answers
 */
export function compare(a: string, b: string): { kind: string; lines: string[]; names: string[] }[] {
  const [before, after] = [new Set(namesIn(a)), new Set(namesIn(b))];
  const groups = new Map<string, { kind: string; lines: string[]; names: string[] }>();
  for (const name of [...before.union(after)].toSorted()) {
    const [first, second] = [before, after].map((names, i) =>
      names.has(name) ? readFileSync(join([a, b][i], name)) : null,
    );
    if (first && second && first.equals(second)) continue;
    const kind = name.split("/", 1)[0];
    const lines = !second
      ? ["only in the first recording"]
      : !first
        ? ["only in the second recording"]
        : name.endsWith(".txt")
          ? lineDifference(first.toString(), second.toString())
          : ["other bytes"];
    // Records with random ids have no order that two runs share.
    if (lines.length === 0) continue;
    const key = JSON.stringify([kind, lines]);
    const group = groups.get(key) ?? { kind, lines, names: [] };
    group.names.push(name);
    groups.set(key, group);
  }
  return [...groups.values()].toSorted(
    (x, y) => x.kind.localeCompare(y.kind) || y.names.length - x.names.length,
  );
}
