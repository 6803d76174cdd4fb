import { type Corpus, type HomologChoice, unknownOrganisms } from "../../motif/index.ts";

/** What is wrong with a choice of homologs from a corpus, in words, and which part of it. */
interface ChoiceProblem {
  field: keyof HomologChoice;
  text: string;
}

export function choiceProblems(choice: HomologChoice, corpus: () => Corpus): ChoiceProblem[] {
  const { organisms = [], leaveOut = [], minIdentity = 0, maxIdentity = 1 } = choice;
  const problem = (field: keyof HomologChoice, text: string): ChoiceProblem => ({ field, text });
  return [
    ...(organisms.length > 0 ? unknownOrganisms(corpus(), organisms) : []).map((organism) =>
      problem(
        "organisms",
        `the corpus in use has no protein of "${organism}". Give the scientific name, NCBI's number or UniProt's mnemonic.`,
      ),
    ),
    ...leaveOut
      .filter((accession) => corpus().findAccession(accession) < 0)
      .map((accession) =>
        problem("leaveOut", `the corpus in use has no protein "${accession}" to leave out.`),
      ),
    ...(minIdentity > maxIdentity
      ? [problem("minIdentity", "the minimum identity is above the maximum.")]
      : []),
  ];
}
