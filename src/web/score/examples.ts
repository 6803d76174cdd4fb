import type { Entry } from "./protein-input.ts";

/** Published motifs to begin with. The sequences are those of UniProtKB/Swiss-Prot (CC BY 4.0). */
export interface Example extends Entry {
  sequence: string;
  title: string;
  /** What there is to see. */
  about: string;
  classes: readonly string[];
  patterns: readonly string[];
}

export const EXAMPLES: readonly Example[] = [
  {
    title: "Try p53 with MDM2’s motif",
    about:
      "Phe19, Trp23 and Leu26 of human p53 fill the cleft of MDM2, its destroyer (Kussie 1996). Beside it P..P, so short that most of its matches mean nothing.",
    name: "P04637",
    classes: ["MDM2-SWIB"],
    patterns: ["P..P"],
    sequence:
      "MEEPQSDPSVEPPLSQETFSDLWKLLPENNVLSPLPSQAMDDLMLSPDDIEQWFTEDPGPDEAPRMPEAAPPVAPAPAAPTPAAPAPAPSWPLSSSVPSQKTYQGSYGFRLGFLHSGTAKSVTCTYSPALNKMFCQLAKTCPVQLWVDSTPPPGTRVRAMAIYKQSQHMTEVVRRCPHHERCSDSDGLAPPQHLIRVEGNLRVEYLDDRNTFRHSVVVPYEPPEVGSDCTTIHYNYMCNSSCMGGMNRRPILTIITLEDSSGNLLGRNSFEVRVCACPGRDRRTEEENLRKKGEPHHELPPGSTKRALPNNTSSSPQPKKKPLDGEYFTLQIRGRERFEMFRELNEALELKDAQAGKEPGGSRAHSSHLKSKKGQSTSRHKKLMFKTEGPDSD",
  },
  {
    title: "Try E7 with LxCxE",
    about:
      "The oncoprotein E7 of a papillomavirus takes the retinoblastoma protein by this motif (Lee 1998).",
    name: "P03129",
    classes: ["LxCxE"],
    patterns: [],
    sequence:
      "MHGDTPTLHEYMLDLQPETTDLYCYEQLNDSSEEEDEIDGPAGQAEPDRAHYNIVTFCCKCDSTLRLCVQSTHVDIRTLEDLLMGTLGIVCPICSQKP",
  },
];
