import { Problem } from "../problem.ts";
import { calibrateCorpus, type Corpora, type MotifClasses } from "../scoring/index.ts";
import { progressLine } from "./progress.ts";

/**
 * `labd corpus calibrate`: makes the null of a corpus, by default of that in use, from random matches of the motif classes in its
 * own proteins.
 * @throws Problem not_found where there is no such corpus
 */
export async function calibrate(
  corpora: Corpora,
  name: string | undefined,
  classes: MotifClasses,
  workers: number,
): Promise<void> {
  const corpus = name === undefined ? corpora.active() : corpora.find(name);
  if (!corpus) throw new Problem("not_found", "There is no corpus yet. Add one: labd corpus add FILE");
  const progress = progressLine();
  const { proteins, looked, matches } = await calibrateCorpus({
    corpus,
    patterns: classes.classes,
    workers,
    report: (done, most, drawn) =>
      progress.show(
        `${done} of at most ${most} proteins searched, ${drawn.toLocaleString("en")} random matches`,
      ),
  });
  progress.clear();
  process.stdout.write(
    `${corpus.name}: ${matches.toLocaleString("en")} random matches in ${proteins} of ${looked} proteins. P values now come from this corpus.\n`,
  );
}
