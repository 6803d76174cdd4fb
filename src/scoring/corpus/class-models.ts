import {
  type AppliedClassModel,
  type ClassModel,
  describeClassModel,
  METHOD,
  type PatternRequest,
} from "../../motif/index.ts";
import type { Database } from "../../platform/sqlite.ts";

/** Result of learning a class, also if there is no model. */
export interface ClassReport {
  motifClass: string;
  instances: number;
  families: number;
  /** Why there is no model; null if there is one. */
  reason: string | null;
  gain: ClassModel["gain"] | null;
}

/** The last learning. */
export interface Learning {
  /** Hash of features, corpus, classes and method; empty if they are not to be learned again. */
  inputs: string;
  /** Milliseconds since 1970-01-01 UTC. */
  learned: number;
  reports: ClassReport[];
}

interface UsedModel extends AppliedClassModel {
  name: string;
  expression: string;
}

/** The class models of a data directory. Jobs refer to them by hash, so that later learning does not change them. */
export class ClassModels {
  /** Models in use, by corpus; valid for one learning. */
  readonly #used = new Map<string, UsedModel[]>();
  #learned: number | undefined;
  /** The models that were loaded last. */
  #loaded: { key: string; models: ReturnType<typeof loadModels> } | undefined;

  constructor(private readonly database: Database) {}

  /** Hashes of the models in use of these patterns, by index; undefined without any. */
  choose(patterns: readonly PatternRequest[], corpus: string): Record<number, string> | undefined {
    const used = this.#usedFor(corpus);
    if (used.length === 0) return undefined;
    const chosen = patterns.flatMap(({ expression, name }, i) => {
      const same = used.filter((one) => one.expression === expression);
      const model = same.find((one) => one.name === name) ?? same[0];
      return model ? [[i, model.hash] as const] : [];
    });
    return chosen.length === 0 ? undefined : Object.fromEntries(chosen);
  }

  /** The model in use of a pattern. */
  forPattern(pattern: PatternRequest, corpus: string): ClassModel | undefined {
    return this.load(this.choose([pattern], corpus))?.[0];
  }

  /** Models from their hashes; many questions have the same. @throws Error if one was removed */
  load(hashes: Readonly<Record<number, string>> | undefined) {
    if (!hashes) return undefined;
    const key = JSON.stringify(hashes);
    if (this.#loaded?.key !== key) this.#loaded = { key, models: loadModels(this.database, hashes) };
    return this.#loaded.models;
  }

  /** A model by its hash, or the one in use of a class; null if there is none. */
  find(id: string, corpus: string | null): ClassModel | null {
    const row = this.database
      .query(
        "SELECT model FROM class_model WHERE hash = ?1 OR (name = ?1 AND used = 1 AND corpus = ?2 AND method = ?3) ORDER BY used DESC",
      )
      .get(id, corpus, METHOD) as { model: string } | null;
    return row && (JSON.parse(row.model) as ClassModel);
  }

  /** The models in use for a corpus. */
  list(corpus: string): ClassModel[] {
    const rows = this.database
      .query(
        "SELECT model FROM class_model WHERE used = 1 AND corpus = ? AND method = ? ORDER BY name, expression",
      )
      .all(corpus, METHOD) as { model: string }[];
    return rows.map(({ model }) => JSON.parse(model) as ClassModel);
  }

  /** The models in use for a corpus by the name of their class, as results show them. */
  applied(corpus: string): ReadonlyMap<string, AppliedClassModel> {
    return new Map(
      this.#usedFor(corpus).map(({ name, hash, instances, gain }) => [name, { hash, instances, gain }]),
    );
  }

  learning(): Learning | null {
    const row = this.database.query("SELECT inputs, learned, reports FROM class_learning").get() as
      (Omit<Learning, "reports"> & { reports: string }) | null;
    return row && { ...row, reports: JSON.parse(row.reports) as ClassReport[] };
  }

  /** Takes models into use instead of all others. */
  replace(models: readonly ClassModel[], { inputs, learned, reports }: Learning): void {
    this.database
      .transaction(() => {
        this.database.run("UPDATE class_model SET used = 0 WHERE used = 1");
        this.#removeUnneeded();
        const insert = this.database.query(
          `INSERT INTO class_model (hash, corpus, method, name, expression, model, used) VALUES (?, ?, ?, ?, ?, ?, 1)
           ON CONFLICT (hash) DO UPDATE SET used = 1`,
        );
        for (const model of models) {
          const { hash, corpus, method, motifClass, expression } = model;
          insert.run(hash, corpus, method, motifClass, expression, JSON.stringify(model));
        }
        this.database
          .query("INSERT OR REPLACE INTO class_learning (rid, inputs, learned, reports) VALUES (1, ?, ?, ?)")
          .run(inputs, learned, JSON.stringify(reports));
      })
      .immediate();
  }

  /** Without jobs that wait or run, nobody needs models that are not in use. */
  #removeUnneeded(): void {
    this.database.run(
      "DELETE FROM class_model WHERE used = 0 AND NOT EXISTS (SELECT 1 FROM job WHERE state IN ('queued', 'running'))",
    );
  }

  #usedFor(corpus: string): UsedModel[] {
    const last = this.database.query("SELECT learned FROM class_learning").get() as {
      learned: number;
    } | null;
    if (last === null) return [];
    if (last.learned !== this.#learned) this.#used.clear();
    this.#learned = last.learned;
    const known = this.#used.get(corpus);
    if (known) return known;
    const used = this.list(corpus).map((model) =>
      Object.assign(describeClassModel(model), { name: model.motifClass, expression: model.expression }),
    );
    this.#used.set(corpus, used);
    return used;
  }
}

/** Models by the index of their pattern, from their hashes. @throws Error if one was removed */
export function loadModels(
  database: Database,
  hashes: Readonly<Record<number, string>> | undefined,
): Readonly<Record<number, ClassModel>> | undefined {
  if (!hashes) return undefined;
  const find = database.query("SELECT model FROM class_model WHERE hash = ?");
  return Object.fromEntries(
    Object.entries(hashes).map(([index, hash]) => {
      const row = find.get(hash) as { model: string } | null;
      if (!row) throw new Error(`class model ${hash} is missing`);
      return [index, JSON.parse(row.model) as ClassModel];
    }),
  );
}
