import { type Corpus, type HomologChoice, unknownOrganisms } from "../../motif/index.ts";

/** What is wrong with a choice of homologs from a corpus, in words. */
export function choiceProblems(choice: HomologChoice, corpus: () => Corpus): string[] {
  const { organisms = [], leaveOut = [], minIdentity = 0, maxIdentity = 1 } = choice;
  return [
    ...(organisms.length > 0 ? unknownOrganisms(corpus(), organisms) : []).map(
      (organism) =>
        `the corpus in use has no protein of "${organism}". Give the scientific name, or NCBI's number.`,
    ),
    ...leaveOut
      .filter((accession) => corpus().findAccession(accession) < 0)
      .map((accession) => `the corpus in use has no protein "${accession}" to leave out.`),
    ...(minIdentity > maxIdentity ? ["the minimum identity is above the maximum."] : []),
  ];
}
