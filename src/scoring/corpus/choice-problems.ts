import { type Corpus, type HomologChoice, unknownOrganisms } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";

/** Problems of a choice of homologs from a corpus, with paths in `homologs`. */
export function choiceProblems(choice: HomologChoice, corpus: () => Corpus): Problem[] {
  const { organisms = [], leaveOut = [], minIdentity = 0, maxIdentity = 1 } = choice;
  const problem = (path: [keyof HomologChoice, number?], reason: string): Problem =>
    new Problem("invalid_request", reason, {
      path: ["homologs", ...path.filter((part) => part !== undefined)],
    });
  return [
    ...(organisms.length > 0 ? unknownOrganisms(corpus(), organisms) : []).map((organism) =>
      problem(
        ["organisms", organisms.indexOf(organism)],
        `the corpus in use has no protein of "${organism}". Give the scientific name, NCBI's number or UniProt's mnemonic.`,
      ),
    ),
    ...leaveOut.flatMap((accession, i) =>
      corpus().findAccession(accession) < 0
        ? problem(["leaveOut", i], `the corpus in use has no protein "${accession}" to leave out.`)
        : [],
    ),
    ...(minIdentity > maxIdentity
      ? [problem(["minIdentity"], "the minimum identity is above the maximum.")]
      : []),
  ];
}
