import type { Entry } from "./protein-input.ts";

/** Published motifs. The sequences are from UniProtKB/Swiss-Prot (CC BY 4.0). */
export interface Example extends Entry {
  sequence: string;
  title: string;
  about: string;
  classes: readonly string[];
  patterns: readonly string[];
}

export const EXAMPLES: readonly Example[] = [
  {
    title: "Try p53 with MDM2’s motif",
    about:
      "Phe19, Trp23 and Leu26 of human p53 fill a cleft of MDM2 (Kussie 1996). The second pattern, P..P, is so short that most of its matches occur by chance.",
    name: "P04637",
    classes: ["MDM2-SWIB"],
    patterns: ["P..P"],
    sequence:
      "MEEPQSDPSVEPPLSQETFSDLWKLLPENNVLSPLPSQAMDDLMLSPDDIEQWFTEDPGPDEAPRMPEAAPPVAPAPAAPTPAAPAPAPSWPLSSSVPSQKTYQGSYGFRLGFLHSGTAKSVTCTYSPALNKMFCQLAKTCPVQLWVDSTPPPGTRVRAMAIYKQSQHMTEVVRRCPHHERCSDSDGLAPPQHLIRVEGNLRVEYLDDRNTFRHSVVVPYEPPEVGSDCTTIHYNYMCNSSCMGGMNRRPILTIITLEDSSGNLLGRNSFEVRVCACPGRDRRTEEENLRKKGEPHHELPPGSTKRALPNNTSSSPQPKKKPLDGEYFTLQIRGRERFEMFRELNEALELKDAQAGKEPGGSRAHSSHLKSKKGQSTSRHKKLMFKTEGPDSD",
  },
  {
    title: "Try E7 with LxCxE",
    about: "The papillomavirus oncoprotein E7 binds the retinoblastoma protein with this motif (Lee 1998).",
    name: "P03129",
    classes: ["LxCxE"],
    patterns: [],
    sequence:
      "MHGDTPTLHEYMLDLQPETTDLYCYEQLNDSSEEEDEIDGPAGQAEPDRAHYNIVTFCCKCDSTLRLCVQSTHVDIRTLEDLLMGTLGIVCPICSQKP",
  },
];
