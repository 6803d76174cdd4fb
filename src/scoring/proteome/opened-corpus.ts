import { statSync } from "node:fs";
import type { Corpus } from "../../motif/index.ts";
import { openCorpusFile } from "../corpus/corpus.ts";

let opened: { path: string; stamp: string; corpus: Corpus } | undefined;

/** A corpus that stays open until another is asked for, or its file has changed. @throws Problem bad_corpus */
export function openedCorpus(path: string): Corpus {
  const stat = statSync(path, { throwIfNoEntry: false });
  const stamp = `${stat?.ino} ${stat?.size} ${stat?.mtimeMs}`;
  if (opened?.path !== path || opened.stamp !== stamp) opened = { path, stamp, corpus: openCorpusFile(path) };
  return opened.corpus;
}
