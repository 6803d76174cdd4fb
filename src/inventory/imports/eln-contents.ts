import type { ElnArchive, ElnFile } from "./eln-reader.ts";
import { MAX_FILES } from "./eln-graph.ts";
import { invalidField } from "../model/parse-body.ts";
import { toContent, type FileContent } from "../records/attachments.ts";
import { Problem } from "../../problem.ts";
import { type Database, openScratch } from "../../platform/sqlite.ts";
import { unzipped, type ZipMember } from "../../platform/zip-file.ts";

/**
 * The contents of the files that the records of an archive name. Each is inflated, hashed and set aside once, before the
 * import may write, however many records name it: others must not wait for that.
 */
export class ElnContents {
  readonly #known = new Map<ZipMember, FileContent | Problem>();
  /** Text to store; undefined if nothing is stored. */
  readonly #scratch: Database | undefined;

  private constructor(stores: boolean) {
    if (stores) this.#scratch = openScratch("CREATE TEMP TABLE piece (file INTEGER, bytes BLOB)");
  }

  /**
   * `check` is called between pieces of a MiB; an error that it throws ends the import. `stores`: false for a dry run,
   * which needs checksums only. @throws Problem too_large
   */
  static async read(
    { records }: Pick<ElnArchive, "records">,
    { check, stores }: { check: () => void; stores: boolean },
  ): Promise<ElnContents> {
    const files = records.flatMap((record) => record.files);
    if (files.length > MAX_FILES)
      throw new Problem(
        "too_large",
        `The records of the archive name ${files.length} files, counting each as often as it is named. Allowed are ${MAX_FILES}. Export it in parts.`,
      );
    const contents = new ElnContents(stores);
    try {
      for (const { content } of files)
        if (!(content instanceof Uint8Array)) await contents.#add(content, check);
    } catch (error) {
      contents.close();
      throw error;
    }
    return contents;
  }

  async #add(member: ZipMember, check: () => void): Promise<void> {
    if (this.#known.has(member)) return;
    const file = this.#known.size;
    const insert = this.#scratch?.query("INSERT INTO piece VALUES (?, ?)");
    const hash = new Bun.CryptoHasher("sha256");
    const pieces = unzipped(member);
    for (;;) {
      check();
      const next = await pieces.next().catch((error: unknown) => {
        if (error instanceof Problem) return error;
        throw error;
      });
      // An error of the records that name the file.
      if (next instanceof Problem) return void this.#known.set(member, next);
      if (next.done) break;
      hash.update(next.value);
      insert?.run(file, next.value);
    }
    const stored = this.#scratch ? { bytes: () => this.#read(file, member.size) } : {};
    this.#known.set(member, { sha256: hash.digest("hex"), size: member.size, ...stored });
  }

  /** The content of a file. @throws Problem if it is damaged, or not the one that the metadata describe */
  of({ name, content: given, sha256, size }: ElnFile): FileContent {
    const content = given instanceof Uint8Array ? toContent(given) : this.#known.get(given)!;
    if (content instanceof Problem) throw content;
    if (sha256 !== "" && sha256.toLowerCase() !== content.sha256)
      throw invalidField(
        name,
        `The SHA-256 of the file is ${content.sha256}, not ${sha256.slice(0, 64)} as the metadata say.`,
      );
    if (sha256 === "" && /^\d+$/.test(size) && Number(size) !== content.size)
      throw invalidField(name, `The file has ${content.size} bytes, not ${size} as the metadata say.`);
    return content;
  }

  close(): void {
    this.#scratch?.close();
  }

  #read(file: number, size: number): Uint8Array {
    const bytes = new Uint8Array(size);
    let at = 0;
    const rows = this.#scratch!.query("SELECT bytes FROM piece WHERE file = ? ORDER BY rowid").iterate(file);
    for (const { bytes: piece } of rows as Iterable<{ bytes: Uint8Array }>) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }
}
