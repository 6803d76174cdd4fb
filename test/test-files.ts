/**
 * Runs test files, each in a `bun test` of its own: `bun run test/test-files.ts [folder, file or part of a name …]`. What
 * one file leaves behind, a test that takes too long (Bun then ends every process that was started since) and even a
 * crash of Bun are that file's alone. Says at the end again why each test failed, briefly enough for those who see only
 * the last few kilobytes, and closes with the counts alone on a line.
 */
import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { spawn } from "bun";

/** Milliseconds for one test, unless it says otherwise. No assertion: a machine may be slow, only not hang. */
const TEST_TIMEOUT = 300_000;
/** Seconds after which a file is ended that Bun itself does not end, such as one that never gives way. */
const FILE_SECONDS = Number(process.env.TEST_FILE_SECONDS ?? 1200);
/** Characters of all that is said again, of which each failure has its part; lines of one. */
const SAID_AGAIN = 6500;
const LINES_OF_ONE = 60;
/** The first failures often explain the others: no more are said again with their message. */
const MOST_SAID_AGAIN = 8;

interface Failure {
  file: string;
  name: string;
  /** What was written between the test before and its end. */
  lines: string[];
}

export interface Outcome {
  pass: number;
  fail: number;
  skip: number;
  failures: Failure[];
}

/** Test files that these words name; all where there are none. */
function filesOf(words: readonly string[]): string[] {
  const below = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.test\.tsx?$/.test(path))
      .map((path) => join(folder, path));
  const all = below("test");
  const files = words.flatMap((word) => {
    const found = statSync(word, { throwIfNoEntry: false });
    if (found === undefined) return all.filter((path) => path.includes(word));
    return found.isDirectory() ? below(word) : [word];
  });
  return [...new Set(words.length === 0 ? all : files)].sort();
}

const COUNT = /^\s*(\d+) (pass|fail|skip)$/;
const ENDED = /^\((?:pass|skip|todo)\) /;
const FAILED = /^\(fail\) (.*)$/;
const BETWEEN = "# Unhandled error between tests";
/** Once for each file, and of no use there. */
const REPEATED = /^bun test v|^ *\d+ (?:expect\(\) calls|errors?)$|^Ran \d+ tests? across /;
const HEADER = /\.test\.tsx?:$/;

/** What `bun test` wrote about one file, line by line. */
class Report {
  readonly outcome: Outcome = { pass: 0, fail: 0, skip: 0, failures: [] };
  /** Whether Bun came to its end. */
  isWhole = false;
  #passed = 0;
  #lines: string[] = [];

  constructor(readonly file: string) {}

  /** @returns whether people should see the line */
  add(line: string): boolean {
    const { outcome } = this;
    const [, number, word] = COUNT.exec(line) ?? [];
    if (word !== undefined) outcome[word as "pass" | "fail" | "skip"] = Number(number);
    if (line.startsWith("Ran ")) this.isWhole = true;
    if (word !== undefined || REPEATED.test(line)) return false;
    const failed = FAILED.exec(line)?.[1];
    if (failed !== undefined) this.failed(failed);
    else if (line === BETWEEN) this.failed(line.slice(2));
    else if (ENDED.test(line)) {
      this.#lines = [];
      if (line.startsWith("(pass)")) this.#passed++;
    } else if (/^ {2}\^ /.test(line)) outcome.failures.at(-1)?.lines.push(line);
    else if (!HEADER.test(line)) this.#lines.push(line);
    // What went wrong between tests is said after that it did.
    if (/^-{5,}$/.test(line) && outcome.failures.at(-1)?.name === BETWEEN.slice(2))
      outcome.failures.at(-1)!.lines = this.#lines;
    return line !== "";
  }

  failed(name: string, lines = this.#lines): void {
    this.outcome.failures.push({ file: this.file, name, lines });
    this.#lines = [];
  }

  /** @param end what became of the process, where that was no good end */
  close(end: string | null): Outcome {
    const { outcome } = this;
    if (!this.isWhole) {
      Object.assign(outcome, { pass: this.#passed, fail: outcome.failures.length });
      this.failed(`bun test ${end ?? "ended"} before it was through`);
      outcome.fail++;
    } else if (outcome.fail === 0 && (end !== null || outcome.pass + outcome.skip === 0)) {
      this.failed(`bun test ${end ?? "found no test"}`);
      outcome.fail++;
    }
    return outcome;
  }
}

/** Runs one file to its end, passing on what it says. */
async function runFile(file: string): Promise<Outcome> {
  const path = file.startsWith("/") ? file : `./${file}`;
  const tests = spawn([process.execPath, "test", "--timeout", String(TEST_TIMEOUT), path], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let end: string | null = null;
  const late = setTimeout(() => {
    end = `was ended after ${FILE_SECONDS} s`;
    tests.kill("SIGKILL");
  }, FILE_SECONDS * 1000);
  const report = new Report(relative(process.cwd(), path).startsWith("..") ? path : file);
  const add = (line: string): void => {
    if (report.add(line)) process.stdout.write(`${line}\n`);
  };
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) add(line);
    }
    if (rest !== "") add(rest);
  };
  // A process that was left behind may hold a pipe open for ever.
  let grace: Timer | undefined;
  const leftBehind = Promise.withResolvers<void>();
  void tests.exited.then(() => (grace = setTimeout(leftBehind.resolve, 3000)));
  await Promise.race([Promise.all([read(tests.stdout), read(tests.stderr)]), leftBehind.promise]);
  const code = await tests.exited;
  clearTimeout(grace);
  clearTimeout(late);
  if (code !== 0) end ??= `ended with ${tests.signalCode ?? code}`;
  return report.close(end);
}

/** The lines that say why, at most so many characters of them: from what is shown of the source to the end. */
function excerptOf(all: readonly string[], characters: number): string[] {
  const lines = all.map((line) => (line.length > 300 ? `${line.slice(0, 300)} …` : line));
  const error = lines.findLastIndex((line) => /^\w*error: |^\w*Error: /.test(line));
  const size = (some: readonly string[]): number => some.reduce((sum, { length }) => sum + length + 1, 0);
  const fits = (some: readonly string[]): boolean => some.length <= LINES_OF_ONE && size(some) <= characters;
  // As much before as there is room for, and after that as much as there is room for.
  let start = error === -1 ? Math.max(0, lines.length - 1) : error;
  if (fits(lines.slice(start))) {
    while (start > 0 && fits(lines.slice(start - 1))) start--;
    return lines.slice(start);
  }
  // The beginning of a long comparison, and the place that its end has.
  const end = lines.slice(-4);
  const middle: string[] = [];
  for (const line of lines.slice(start, -4)) {
    if (!fits([...middle, line, "…", ...end])) break;
    middle.push(line);
  }
  return [...middle, "…", ...end];
}

/** The failures once more: all by name, the first ones with their message. */
function saidAgain(failures: readonly Failure[]): string {
  if (failures.length === 0) return "";
  const first = failures.slice(0, MOST_SAID_AGAIN);
  const names = failures.map(({ file, name }) => `  ${file}: ${name}`);
  const messages = first.map(({ file, name, lines }, i) => {
    const excerpt = excerptOf(lines, Math.floor(SAID_AGAIN / first.length));
    return [`── ${i + 1} of ${failures.length}: ${file}`, ...excerpt, `(fail) ${name}`].join("\n");
  });
  return `\nWhat failed:\n${names.join("\n")}\n\n${messages.join("\n\n")}\n\n`;
}

/** Says what failed and what it adds up to, and ends the process: one that a test left behind may hold a pipe of it. */
export function finish({ pass, fail, skip, failures }: Outcome): void {
  const counts = `${pass} passed, ${fail} failed${skip > 0 ? `, ${skip} skipped` : ""}\n`;
  process.stdout.write(saidAgain(failures) + counts, () => process.exit(fail === 0 ? 0 : 1));
}

/** Runs what the words name, one after the other. */
export async function runTests(words: readonly string[]): Promise<Outcome> {
  const sum: Outcome = { pass: 0, fail: 0, skip: 0, failures: [] };
  for (const file of filesOf(words)) {
    const { pass, fail, skip, failures } = await runFile(file);
    sum.pass += pass;
    sum.fail += fail;
    sum.skip += skip;
    sum.failures.push(...failures);
  }
  // A run in which nothing ran is a failure whatever it counted.
  if (sum.pass + sum.fail === 0) {
    sum.failures.push({ file: words.join(" "), name: "no test ran", lines: [] });
    sum.fail = 1;
  }
  return sum;
}

if (import.meta.main) finish(await runTests(process.argv.slice(2)));
