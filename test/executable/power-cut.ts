import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../scoring/contract/random-message.ts";

/**
 * Power cuts, simulated: the system calls of a real run are replayed up to a moment, and the directory is written as a
 * disk might hold it then. POSIX promises only what fsync has returned for: of the other writes, renames and removals,
 * any may be missing, half done, or done before earlier ones.
 */

/** Calls that change files or say where the next write goes. */
export const TRACED =
  "open,openat,creat,close,lseek,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,fsync,fdatasync," +
  "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,copy_file_range,sendfile,splice,mmap";

/** One system call that succeeded; `at` in seconds since 1970. Data are bytes as Latin-1. */
interface Call {
  at: number;
  name: string;
  args: string[];
  result: string;
}

/** The calls of `strace -f -y -ttt -xx`, in the order in which they returned. */
function* readCalls(trace: string): Generator<Call> {
  const unfinished = new Map<string, string>();
  for (const line of trace.split("\n")) {
    const found = /^(\d+) +(\d+\.\d+) (.*)$/s.exec(line);
    if (!found) continue;
    const [, thread, at, text] = found as unknown as [string, string, string, string];
    if (text.endsWith("<unfinished ...>")) {
      unfinished.set(thread, text.slice(0, -"<unfinished ...>".length));
      // An fsync may not include writes made while it runs.
      if (/^(fsync|fdatasync)\(/.test(text))
        yield {
          at: Number(at),
          name: "begin",
          args: [text.slice(text.indexOf("(") + 1).trim()],
          result: thread,
        };
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(text);
    const whole = resumed ? (unfinished.get(thread) ?? "") + resumed[1] : text;
    const call = /^(\w+)\((.*)\) += (-?\w+.*)$/s.exec(whole);
    if (!call || call[3]!.startsWith("-1")) continue;
    const isLong = resumed !== null && /^(fsync|fdatasync)$/.test(call[1]!);
    yield {
      at: Number(at),
      name: isLong ? "end" : call[1]!,
      args: splitArguments(call[2]!),
      result: isLong ? thread : call[3]!,
    };
  }
}

/** Arguments at commas outside strings, brackets and braces. */
const splitArguments = (text: string): string[] =>
  text.match(/(?:"[^"]*"\.*|\[[^\]]*\]|\{[^}]*\}|<[^>]*>|[^,"[{<])+/g)?.map((one) => one.trim()) ?? [];

const unescape = (text: string): string =>
  text.replaceAll(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
/** The strings of an argument. */
const bytesIn = (text: string): Buffer =>
  Buffer.from([...text.matchAll(/"([^"]*)"/g)].map(([, one]) => unescape(one!)).join(""), "latin1");
const unquote = (text: string): string => unescape(/"([^"]*)"/.exec(text)?.[1] ?? "");
const pathIn = (text: string): string =>
  unescape(/<([^>]*)>/.exec(text)?.[1] ?? "").replace(/ ?\(deleted\)$/, "");

type Write = { offset: number; data: Buffer } | { size: number };

class File {
  readonly pending: Write[] = [];
  constructor(public durable: Buffer = Buffer.alloc(0)) {}

  get size(): number {
    return this.pending.reduce((size, one) => sizeAfter(size, one), this.durable.length);
  }
}

const sizeAfter = (size: number, one: Write): number =>
  "size" in one ? one.size : Math.max(size, one.offset + one.data.length);

function apply(content: Buffer, one: Write): Buffer {
  const size = sizeAfter(content.length, one);
  const next =
    size === content.length
      ? content
      : Buffer.concat([content, Buffer.alloc(Math.max(0, size - content.length))], size);
  if ("data" in one) one.data.copy(next, one.offset);
  return next;
}

type Node = File | Directory;

/** One change of names, which happens as a whole or not at all: a rename touches two. */
interface Naming {
  changes: { directory: Directory; name: string; node: Node | undefined }[];
}

class Directory {
  readonly current = new Map<string, Node>();
  readonly durable = new Map<string, Node>();
  pending: Naming[] = [];
}

/** A disk that remembers which of its changes are sure to survive. */
export class Disk {
  readonly #root: Directory;
  readonly #positions = new Map<string, number>();
  readonly #syncs = new Map<string, { node: Node; count: number }>();

  /** @param root directory whose content now is durable */
  constructor(private readonly root: string) {
    this.#root = readDirectory(root);
  }

  /** Replays the calls of a trace. Yields the time of each that changed something on the disk, after it. */
  *replay(trace: string): Generator<{ at: number; isWrite: boolean }> {
    for (const call of readCalls(trace))
      if (this.#perform(call)) yield { at: call.at, isWrite: /write|truncate/.test(call.name) };
  }

  /** Writes the disk as it may be after a power cut now. */
  cut(target: string, next: Random): void {
    materialize(this.#root, target, next);
  }

  /** @returns whether the disk changed */
  #perform(call: Call): boolean {
    return this.#handlers[call.name]?.(call.args, call.result) ?? false;
  }

  /** By the name of a call: what it does with its arguments and its result. */
  readonly #handlers: Record<string, (args: string[], result: string) => boolean> = {
    open: (args, handle) => this.#open(pathIn(handle), args.join(), handle),
    openat: (args, handle) => this.#open(pathIn(handle), args.join(), handle),
    creat: (_, handle) => this.#open(pathIn(handle), "O_CREAT|O_TRUNC", handle),
    lseek: ([handle], at) => {
      this.#positions.set(handle!, Number(at));
      return false;
    },
    write: ([handle, data], count) => this.#append(handle!, bytesIn(data!).subarray(0, Number(count))),
    writev: ([handle, data], count) => this.#append(handle!, bytesIn(data!).subarray(0, Number(count))),
    pwrite64: ([handle, data, , at], count) =>
      this.#write(handle!, Number(at), bytesIn(data!).subarray(0, Number(count))),
    pwritev: ([handle, data, , at], count) =>
      this.#write(handle!, Number(at), bytesIn(data!).subarray(0, Number(count))),
    ftruncate: ([handle, size]) => this.#change(pathIn(handle!), { size: Number(size) }),
    truncate: ([path, size]) => this.#change(unquote(path!), { size: Number(size) }),
    fsync: ([handle]) => this.#sync(handle!),
    fdatasync: ([handle]) => this.#sync(handle!),
    begin: ([handle], thread) => {
      const node = this.#find(pathIn(handle!));
      if (node) this.#syncs.set(thread, { node, count: node.pending.length });
      return false;
    },
    end: (_, thread) => {
      const begun = this.#syncs.get(thread);
      this.#syncs.delete(thread);
      return begun !== undefined && sync(begun.node, begun.count);
    },
    rename: ([from, to]) => this.#rename(unquote(from!), unquote(to!)),
    renameat: ([from, name, to, next]) => this.#rename(absolute(from!, name!), absolute(to!, next!)),
    renameat2: ([from, name, to, next]) => this.#rename(absolute(from!, name!), absolute(to!, next!)),
    link: ([from, to]) => this.#name(unquote(to!), this.#find(unquote(from!))),
    linkat: ([from, name, to, next]) => this.#name(absolute(to!, next!), this.#find(absolute(from!, name!))),
    unlink: ([path]) => this.#name(unquote(path!), undefined),
    rmdir: ([path]) => this.#name(unquote(path!), undefined),
    unlinkat: ([directory, path]) => this.#name(absolute(directory!, path!), undefined),
    mkdir: ([path]) => this.#name(unquote(path!), new Directory()),
    mkdirat: ([directory, path]) => this.#name(absolute(directory!, path!), new Directory()),
    // SQLite rebuilds the index of its log after a crash; nothing else may write through memory.
    mmap: ([, , protection, flags, handle]) =>
      /MAP_SHARED\b/.test(flags!) && /PROT_WRITE/.test(protection!) && !pathIn(handle!).endsWith("-shm")
        ? this.#refuse("mmap", [handle!])
        : false,
    copy_file_range: (args) => this.#refuse("copy_file_range", args),
    sendfile: (args) => this.#refuse("sendfile", args.slice(0, 1)),
    splice: (args) => this.#refuse("splice", args),
    fallocate: (args) => this.#refuse("fallocate", args),
  };

  #refuse(name: string, args: string[]): boolean {
    if (args.some((one) => this.#locate(pathIn(one))))
      throw new Error(`The simulation lacks ${name}(${args.join(", ")})`);
    return false;
  }

  #sync(handle: string): boolean {
    const node = this.#find(pathIn(handle));
    return node !== undefined && sync(node, node.pending.length);
  }

  #open(path: string, flags: string, handle: string): boolean {
    const place = this.#locate(path);
    if (!place) return false;
    const known = place.directory.current.get(place.name);
    if (/O_APPEND/.test(flags)) this.#positions.delete(handle);
    else this.#positions.set(handle, 0);
    if (known instanceof Directory) return false;
    if (known === undefined) return /O_CREAT|^creat/.test(flags) && this.#name(path, new File());
    return /O_TRUNC/.test(flags) && known.size > 0 && this.#change(path, { size: 0 });
  }

  /** Writes where the last write or lseek ended; at the end of a file that is opened for appending. */
  #append(handle: string, data: Buffer): boolean {
    const known = this.#positions.get(handle);
    const offset = known ?? this.#file(pathIn(handle))?.size ?? 0;
    if (known !== undefined) this.#positions.set(handle, offset + data.length);
    return this.#write(handle, offset, data);
  }

  #write(handle: string, offset: number, data: Buffer): boolean {
    return this.#change(pathIn(handle), { offset, data });
  }

  #change(path: string, write: Write): boolean {
    const file = this.#file(path);
    file?.pending.push(write);
    // SQLite rebuilds the index of its log, and the lock has no content.
    return file !== undefined && !/-shm$|\.lock/.test(path);
  }

  #rename(from: string, to: string): boolean {
    const [source, target] = [this.#locate(from), this.#locate(to)];
    const node = this.#find(from);
    if (!source || !target || !node) return false;
    source.directory.current.delete(source.name);
    target.directory.current.set(target.name, node);
    const naming = {
      changes: [
        { ...source, node: undefined },
        { ...target, node },
      ],
    };
    for (const directory of new Set([source.directory, target.directory])) directory.pending.push(naming);
    return true;
  }

  /** Gives a name to a node; takes it away without one. */
  #name(path: string, node: Node | undefined): boolean {
    const place = this.#locate(path);
    if (!place) return false;
    if (node) place.directory.current.set(place.name, node);
    else place.directory.current.delete(place.name);
    place.directory.pending.push({ changes: [{ ...place, node }] });
    return true;
  }

  #file(path: string): File | undefined {
    const node = this.#find(path);
    return node instanceof File ? node : undefined;
  }

  #find(path: string): Node | undefined {
    if (path === this.root) return this.#root;
    const place = this.#locate(path);
    return place?.directory.current.get(place.name);
  }

  /** The directory and name of a path; undefined outside the root. */
  #locate(path: string): { directory: Directory; name: string } | undefined {
    if (!path.startsWith(`${this.root}/`)) return undefined;
    const names = path.slice(this.root.length + 1).split("/");
    let directory = this.#root;
    for (const name of names.slice(0, -1)) {
      const inner = directory.current.get(name);
      if (!(inner instanceof Directory)) return undefined;
      directory = inner;
    }
    return { directory, name: names.at(-1)! };
  }
}

const absolute = (directory: string, path: string): string => {
  const name = unquote(path);
  return name.startsWith("/") ? name : join(pathIn(directory), name);
};

/** Makes the first `count` changes durable. */
function sync(node: Node, count: number): boolean {
  if (node instanceof File) {
    for (const one of node.pending.splice(0, count)) node.durable = apply(node.durable, one);
    return true;
  }
  for (const naming of node.pending.slice(0, count)) {
    for (const { directory, name, node: named } of naming.changes) {
      if (named) directory.durable.set(name, named);
      else directory.durable.delete(name);
      directory.pending = directory.pending.filter((one) => one !== naming);
    }
  }
  return true;
}

function readDirectory(path: string): Directory {
  const directory = new Directory();
  for (const name of readdirSync(path)) {
    const inner = join(path, name);
    const node = statSync(inner).isDirectory() ? readDirectory(inner) : new File(readFileSync(inner));
    directory.current.set(name, node);
    directory.durable.set(name, node);
  }
  return directory;
}

/** Which of the pending changes reached the disk: all, none, the first ones, or any. */
function survivors<T>(pending: readonly T[], next: Random): T[] {
  const way = Math.floor(next() * 4);
  if (way === 0) return [...pending];
  if (way === 1) return [];
  if (way === 2) return pending.slice(0, Math.floor(next() * (pending.length + 1)));
  return pending.filter(() => next() < 0.5);
}

const SECTOR = 512;

/** A write as it is, or only some of its sectors. */
function torn(one: Write, next: Random): Write[] {
  if ("size" in one || one.data.length <= SECTOR || next() < 0.7) return [one];
  const sectors: Write[] = [];
  for (let at = 0; at < one.data.length; at += SECTOR)
    if (next() < 0.5) sectors.push({ offset: one.offset + at, data: one.data.subarray(at, at + SECTOR) });
  return sectors;
}

function materialize(root: Directory, target: string, next: Random): void {
  // A rename has reached both of its directories, or none.
  const decided = new Map<Naming, boolean>();
  const write = (directory: Directory, path: string): void => {
    mkdirSync(path, { recursive: true });
    const kept = new Set(survivors(directory.pending, next));
    const entries = new Map(directory.durable);
    for (const naming of directory.pending) {
      if (!decided.has(naming)) decided.set(naming, kept.has(naming));
      if (!decided.get(naming)) continue;
      for (const change of naming.changes) {
        if (change.directory !== directory) continue;
        if (change.node) entries.set(change.name, change.node);
        else entries.delete(change.name);
      }
    }
    for (const [name, node] of entries) {
      const inner = join(path, name);
      if (node instanceof Directory) write(node, inner);
      else {
        const left = survivors(node.pending, next).flatMap((one) => torn(one, next));
        writeFileSync(inner, left.reduce(apply, Buffer.from(node.durable) as Buffer), { mode: 0o600 });
      }
    }
  };
  write(root, target);
}
