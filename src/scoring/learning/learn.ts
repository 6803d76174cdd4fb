import {
  type ClassExample,
  type ClassMatch,
  type ClassModel,
  type Corpus,
  joinFamilies,
  learnClass,
  MIN_INSTANCES,
  listColumns,
  METHOD,
  parsePattern,
  type Pattern,
} from "../../motif/index.ts";
import type { ClassReport } from "../corpus/class-models.ts";
import { type CorpusInfo, openedCorpus } from "../corpus/corpus.ts";
import { listFamilies } from "../corpus/families-file.ts";
import type { MotifClass, MotifClasses } from "../corpus/motif-classes.ts";
import { placesCoincide } from "../features/annotation.ts";
import type { FeatureFiles } from "../features/feature-files.ts";
import { resultsInOrder } from "../jobs/task-results.ts";
import { buildFamilies, onThreads } from "../proteome/build.ts";
import { planBuild } from "../proteome/plan.ts";
import type { ExamplesReport, ExamplesTask } from "../proteome/proteome-tasks.ts";
import { collectInstances, type Instance } from "./instances.ts";
import { drawProteins, RANDOM_MATCHES } from "./random-proteins.ts";

export interface LearningRequest {
  corpus: CorpusInfo;
  /** Corpora whose families may be carried over. */
  others: readonly CorpusInfo[];
  classes: MotifClasses;
  files: FeatureFiles;
  /** Threads; the models do not depend on their number. */
  workers: number;
  /** Receives the activity and the fraction of it that is done. */
  report?: (activity: string, fraction: number) => void;
}

/** Instances of a class that are used. */
const MAX_INSTANCES = 300;

/** A class to learn. */
interface Lesson {
  motifClass: MotifClass;
  pattern: Pattern;
  instances: readonly Instance[];
  /** Proteins with instances, and others with random matches. */
  bearing: number[];
  random: number[];
}

/** Learns the models of all classes that have enough instances in proteins of the corpus. @throws Problem disk_full, bad_corpus */
export async function learnClasses(
  request: LearningRequest,
): Promise<{ models: ClassModel[]; reports: ClassReport[] }> {
  const { corpus: info, files, classes, report = () => {} } = request;
  const corpus = openedCorpus(info.path);
  const instances = collectInstances(files, corpus, classes);
  const lessons = await planLessons(request, corpus, instances);
  const results: Learned[] = [];
  const examples = await scoreExamples(request, lessons);
  for (const [i, lesson] of lessons.entries()) {
    report("Learning classes", i / lessons.length);
    results.push(learnLesson(info.hash, lesson, examples[i]));
  }
  const learned = new Map(results.map((result) => [result.report.motifClass, result.report]));
  const reports = [...instances].map(
    ([{ name }, own]) => learned.get(name) ?? tooFew(name, own.filter(({ isTrue }) => isTrue).length),
  );
  return {
    models: results.flatMap(({ model }) => model ?? []),
    reports: reports.toSorted((a, b) => b.instances - a.instances || (a.motifClass < b.motifClass ? -1 : 1)),
  };
}

const tooFew = (motifClass: string, instances: number): ClassReport => ({
  motifClass,
  instances,
  families: 0,
  reason: `fewer than ${MIN_INSTANCES} instances in proteins of the corpus`,
  gain: null,
});

/** Chooses the proteins of each class, and computes the families that they lack. */
async function planLessons(
  request: LearningRequest,
  corpus: Corpus,
  instances: ReadonlyMap<MotifClass, readonly Instance[]>,
): Promise<Lesson[]> {
  const { corpus: info, report = () => {} } = request;
  const lessons = [...instances].flatMap(([motifClass, own]): Lesson[] => {
    const known = own.filter(({ isTrue }) => isTrue).slice(0, MAX_INSTANCES);
    if (known.length < MIN_INSTANCES) return [];
    const bearing = [...new Set(known.map(({ protein }) => protein))];
    const pattern = parsePattern(motifClass.expression, motifClass.dialect);
    return [{ motifClass, pattern, instances: own, bearing, random: [] }];
  });
  await computeFamilies(request, corpus, new Set(lessons.flatMap(({ bearing }) => bearing)));
  const withFamilies = new Set(listFamilies(info).flatMap(({ proteins }) => proteins));
  const computed = new Set<number>();
  for (const [i, lesson] of lessons.entries()) {
    report("Drawing random matches", i / lessons.length);
    const { known, missing } = drawProteins(corpus, lesson.pattern, {
      withFamilies,
      bearing: lesson.bearing,
    });
    lesson.random = known.concat(missing);
    for (const protein of missing) computed.add(protein);
  }
  await computeFamilies(request, corpus, computed);
  return lessons;
}

/** Families are stored as those of a build, so that a kill loses at most a minute of work. */
async function computeFamilies(
  { corpus: info, others, workers, report = () => {} }: LearningRequest,
  corpus: Corpus,
  proteins: ReadonlySet<number>,
): Promise<void> {
  if (proteins.size === 0) return;
  const names = [...proteins].map((protein) => corpus.accession(protein)).join("\n");
  const plan = planBuild({ corpus: info, selection: { names }, others });
  if (plan.missing.length === 0) return;
  await buildFamilies(plan, onThreads(workers), ({ proteins: done }) =>
    report(`Finding homologs of ${plan.missing.length} proteins`, done / plan.missing.length),
  );
}

/** Matches of a class, and the homologs of the proteins with instances. */
interface Scored {
  matches: ClassMatch[];
  homologs: Map<number, readonly number[]>;
}

async function scoreExamples(
  { corpus, workers, report = () => {} }: LearningRequest,
  lessons: readonly Lesson[],
): Promise<Scored[]> {
  const scored = lessons.map((): Scored => ({ matches: [], homologs: new Map() }));
  const wanted = lessons.map(({ bearing, random }) => new Set([...bearing, ...random]));
  const tasks: ExamplesTask[] = [];
  for (const { path: families, proteins } of listFamilies(corpus)) {
    const patterns = lessons.flatMap(({ motifClass }, lesson) => {
      // Two builds at a time may have computed the same family.
      const among = proteins.filter((protein) => wanted[lesson].delete(protein));
      return among.length > 0 ? [{ lesson, pattern: motifClass, among }] : [];
    });
    if (patterns.length > 0) tasks.push({ ticket: 0, corpusPath: corpus.path, families, examples: patterns });
  }
  let done = 0;
  for await (const { ticket, found } of resultsInOrder<ExamplesReport>(tasks, workers)) {
    for (const [i, { matches, homologs }] of found.entries()) {
      const own = scored[tasks[ticket].examples[i].lesson];
      for (const match of matches) own.matches.push(match);
      for (const [protein, indexes] of homologs) own.homologs.set(protein, indexes);
    }
    report("Scoring instances and random matches", ++done / tasks.length);
  }
  return scored;
}

interface Learned {
  model: ClassModel | null;
  report: ClassReport;
}

function learnLesson(corpus: string, lesson: Lesson, scored: Scored): Learned {
  const { name: motifClass, expression } = lesson.motifClass;
  const learned = learnClass(makeExamples(lesson, scored), listColumns(lesson.pattern.automaton));
  const { instances, families, gain } = learned;
  if ("reason" in learned)
    return { model: null, report: { motifClass, instances, families, gain, reason: learned.reason } };
  const content = { motifClass, expression, method: METHOD, corpus, ...learned };
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 32);
  return {
    model: { hash, ...content },
    report: { motifClass, instances, families, gain, reason: null },
  };
}

/** Instances at a match of the class, and random matches elsewhere in the order of the corpus. */
function makeExamples({ instances, bearing, random }: Lesson, scored: Scored): ClassExample[] {
  const matches = scored.matches.toSorted((a, b) => a.protein - b.protein || a.start - b.start);
  const byProtein = Map.groupBy(instances, ({ protein }) => protein);
  const hasInstances = new Set(bearing);
  const known: ClassMatch[] = [];
  const others: ClassMatch[] = [];
  for (const match of matches) {
    const here = (byProtein.get(match.protein) ?? []).filter((one) => placesCoincide(one, match));
    if (here.length === 0) others.push(match);
    else if (hasInstances.has(match.protein) && isBest(match, here, matches)) known.push(match);
  }
  const names = joinFamilies(
    known.map(({ protein, window }) => ({
      window,
      names: [protein, ...(scored.homologs.get(protein) ?? [])].map(String),
    })),
  );
  const familyOf = new Map(known.map(({ protein }, i) => [protein, names[i]]));
  const order = new Map(random.map((protein, i) => [protein, i]));
  const placeOf = ({ protein }: ClassMatch): number => order.get(protein) ?? random.length + protein;
  const drawn = others
    .toSorted((a, b) => placeOf(a) - placeOf(b) || a.start - b.start)
    .slice(0, 2 * RANDOM_MATCHES);
  return [
    ...known.map((match, i) => Object.assign(match, { isTrue: true, family: names[i] })),
    ...drawn.map((match) =>
      Object.assign(match, {
        isTrue: false,
        family: familyOf.get(match.protein) ?? `protein ${match.protein}`,
      }),
    ),
  ];
}

/** True if a match is the one that lies best at one of the true instances. */
function isBest(match: ClassMatch, here: readonly Instance[], matches: readonly ClassMatch[]): boolean {
  const distance = (one: ClassMatch, { start, end }: Instance): number =>
    Math.abs(one.start - start) + Math.abs(one.end - end);
  return here.some(
    (instance) =>
      instance.isTrue &&
      matches.every(
        (other) => other.protein !== match.protein || distance(other, instance) >= distance(match, instance),
      ),
  );
}
