/** Class models in the benchmarks: learned from one half of the families, and applied to the other. */
import type { ClassMatch } from "../../src/motif/class-examples.ts";
import { type ClassExample, learnClass } from "../../src/motif/class-learning.ts";
import { applyClassModel, type ClassModel } from "../../src/motif/class-model.ts";
import { TERMS } from "../../src/motif/prediction.ts";

export type FoldMatch = Pick<ClassMatch, "window" | "contributions" | "thresholds"> & {
  isTrue: boolean;
  family: string;
};

const HALVES = 2;
/** Random matches of which a class is learned. */
const RANDOM_MATCHES = 500;
const SEED = 28;

const hash = (text: string): number => Bun.hash.crc32(`${text} ${SEED}`) >>> 0;

/** z of the terms. */
export const zOf = ({ contributions }: Pick<FoldMatch, "contributions">): number =>
  TERMS.reduce((sum, term) => sum + contributions.discontinuous[term], 0);

/** Halves of families with about as many instances each; other families by chance. */
function chooseHalves(matches: readonly FoldMatch[]): Map<string, number> {
  const instances = new Map<string, number>();
  for (const { family, isTrue } of matches)
    instances.set(family, (instances.get(family) ?? 0) + (isTrue ? 1 : 0));
  const sizes = Array.from({ length: HALVES }, () => 0);
  const sorted = [...instances].toSorted(([a, x], [b, y]) => y - x || hash(a) - hash(b));
  return new Map(
    sorted.map(([family, count]) => {
      const half = count === 0 ? hash(family) % HALVES : sizes.indexOf(Math.min(...sizes));
      sizes[half] += count;
      return [family, half];
    }),
  );
}

/** A model of a class for each half, learned from the other; null where there is none. */
export function learnHalves(
  matches: readonly FoldMatch[],
  columns: readonly number[],
): { modelFor: (match: Pick<FoldMatch, "family">) => ClassModel | null; learned: number } {
  const halves = chooseHalves(matches);
  const halfOf = (family: string): number => halves.get(family) ?? hash(family) % HALVES;
  const models = Array.from({ length: HALVES }, (_, half) => {
    const training = matches.filter(({ family }) => halfOf(family) !== half);
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
    modelFor: ({ family }) => models[halfOf(family)],
    learned: models.filter((model) => model !== null).length,
  };
}

/** z of a match with a class model, discontinuous. */
export const zWithModel = (match: FoldMatch, model: ClassModel | null): number =>
  zOf(match) +
  (model ? applyClassModel(model, match.contributions.discontinuous, match.window, "discontinuous") : 0);
