import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { METHOD } from "../../motif/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { createDirectory } from "../../platform/owned-file.ts";
import { isRunning } from "../../platform/running-process.ts";
import { Problem } from "../../problem.ts";
import type { ClassModels, Learning } from "../corpus/class-models.ts";
import type { Corpora } from "../corpus/corpus.ts";
import type { MotifTables } from "../corpus/motif-tables.ts";
import type { FeatureFiles } from "../features/feature-files.ts";
import { learnClasses } from "./learn.ts";

interface ClassLearningOptions {
  files: FeatureFiles;
  corpora: Corpora;
  classes: MotifTables;
  models: ClassModels;
  clock: Clock;
}

export type LearningReport = (activity: string, fraction: number) => void;

/** Keeps the class models of a data directory in step with its instances, corpus and classes. */
export class ClassLearning {
  constructor(private readonly options: ClassLearningOptions) {}

  /** Hash of what the models depend on. */
  inputs(): string {
    const { files, corpora, classes } = this.options;
    const imported = files.list().map(({ name, imported, bytes }) => [name, imported, bytes]);
    const from = [METHOD, corpora.active()?.hash ?? null, classes.imported()?.hash ?? null, imported];
    return new Bun.CryptoHasher("sha256").update(JSON.stringify(from)).digest("hex");
  }

  /** True if the models follow from the present inputs, or there is nothing to learn. */
  isCurrent(): boolean {
    const { files, models } = this.options;
    const last = models.learning();
    return last === null ? files.isEmpty : last.inputs === this.inputs();
  }

  /** True if another process learns the classes now. */
  isBusy(): boolean {
    const path = this.#lock();
    return existsSync(path) && isRunning(Number(readFileSync(path, "utf8")));
  }

  /**
   * Learns the classes, and takes their models into use at once; a kill leaves the former ones.
   *
   * @throws Problem conflict if another process does so; disk_full, bad_corpus
   */
  async learn(workers: number, report?: LearningReport): Promise<Learning> {
    if (this.isBusy()) throw new Problem("conflict", "Another process learns the motif classes now.");
    const { files, corpora, classes, models, clock } = this.options;
    createDirectory(files.directory);
    writeFileSync(this.#lock(), String(process.pid));
    try {
      const inputs = this.inputs();
      const corpus = corpora.active();
      const { models: learned, reports } =
        corpus === null
          ? { models: [], reports: [] }
          : await learnClasses({
              corpus,
              others: corpora.list(),
              classes,
              files,
              workers,
              ...(report && { report }),
            });
      const learning = { inputs, learned: clock.now(), reports };
      models.replace(learned, learning);
      return learning;
    } finally {
      rmSync(this.#lock(), { force: true });
    }
  }

  /** Takes all models out of use, until the classes are learned again. */
  retire(): void {
    const { models, clock } = this.options;
    if (models.learning()) models.replace([], { inputs: "", learned: clock.now(), reports: [] });
  }

  /** A file with the number of the process that learns. */
  #lock(): string {
    return join(this.options.files.directory, "learning.pid");
  }
}
