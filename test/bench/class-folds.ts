/** Class models in the benchmarks: learned from some folds of the families, and applied to the other. */
import type { ClassMatch } from "../../src/motif/class-examples.ts";
import { type ClassExample, learnClass } from "../../src/motif/class-learning.ts";
import { applyClassModel, type ClassModel } from "../../src/motif/class-model.ts";
import { TERMS } from "../../src/motif/prediction.ts";

export type FoldMatch = Pick<ClassMatch, "window" | "contributions" | "thresholds"> & {
  isTrue: boolean;
  family: string;
};

/** Random matches of which a class is learned. */
const RANDOM_MATCHES = 500;
const SEED = 28;

const hash = (text: string): number => Bun.hash.crc32(`${text} ${SEED}`) >>> 0;

/** z of the terms. */
export const zOf = ({ contributions }: Pick<FoldMatch, "contributions">): number =>
  TERMS.reduce((sum, term) => sum + contributions.discontinuous[term], 0);

/** Folds of families with about as many instances each; other families by chance. */
function chooseFolds(matches: readonly FoldMatch[], folds: number): Map<string, number> {
  const instances = new Map<string, number>();
  for (const { family, isTrue } of matches)
    instances.set(family, (instances.get(family) ?? 0) + (isTrue ? 1 : 0));
  const sizes = Array.from({ length: folds }, () => 0);
  const sorted = [...instances].toSorted(([a, x], [b, y]) => y - x || hash(a) - hash(b));
  return new Map(
    sorted.map(([family, count]) => {
      const fold = count === 0 ? hash(family) % folds : sizes.indexOf(Math.min(...sizes));
      sizes[fold] += count;
      return [family, fold];
    }),
  );
}

/** A model of a class for each fold, learned from the others; null where there is none. */
export function learnFolds(
  matches: readonly FoldMatch[],
  columns: readonly number[],
  folds: number,
): { modelFor: (match: Pick<FoldMatch, "family">) => ClassModel | null; learned: number } {
  const chosen = chooseFolds(matches, folds);
  const foldOf = (family: string): number => chosen.get(family) ?? hash(family) % folds;
  const models = Array.from({ length: folds }, (_, fold) => {
    const training = matches.filter(({ family }) => foldOf(family) !== fold);
    const random = training
      .filter(({ isTrue }) => !isTrue)
      .map((match, i) => ({ match, order: hash(`${match.family} ${i}`) }))
      .sort((a, b) => a.order - b.order)
      .slice(0, RANDOM_MATCHES)
      .map(({ match }) => match);
    const examples: ClassExample[] = [...training.filter(({ isTrue }) => isTrue), ...random];
    const model = learnClass(examples, columns);
    return "reason" in model ? null : (model as ClassModel);
  });
  return {
    modelFor: ({ family }) => models[foldOf(family)],
    learned: models.filter((model) => model !== null).length,
  };
}

/** z of a match with a class model, discontinuous. */
export const zWithModel = (match: FoldMatch, model: ClassModel | null): number =>
  zOf(match) +
  (model ? applyClassModel(model, match.contributions.discontinuous, match.window, "discontinuous") : 0);
