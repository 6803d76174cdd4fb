import { expect, test } from "bun:test";
import { readFeatures } from "../fixtures/read-features.ts";
import { P53 } from "./scoring-harness.ts";

test("reads subcellular locations, without those of isoforms", () => {
  const head = `ID   P53_HUMAN  Reviewed;  393 AA.\nAC   P04637;\n`;
  const flat = `${head}CC   -!- FUNCTION: Acts. SUBCELLULAR LOCATION: not here.
CC   -!- SUBCELLULAR LOCATION: Cytoplasm {ECO:0000269|PubMed:1.2, ECO:0000305}.
CC       Cell membrane {ECO:0000250}; Multi-pass membrane protein {ECO:0000255}.
CC       Note=Moves to the nucleus. Often.
CC   -!- SUBCELLULAR LOCATION: [Isoform 2]: Nucleus.
CC   -!- SUBCELLULAR LOCATION: [Fragment]: Secreted.
CC   ---------------------------------------------------------------------------
CC   Copyrighted. See the terms.
SQ   SEQUENCE   393 AA;
     ${P53}
//
`;
  const old = `${head}CC   -!- SUBCELLULAR LOCATION: Cytoplasm (By similarity). Cell membrane;
CC       Multi-pass membrane protein (Potential). Secreted.
CC   -!- SIMILARITY: none.
SQ   SEQUENCE   393 AA;
//
`;
  const at = (value: string, topology?: string) => ({
    location: { value },
    ...(topology !== undefined && { topology: { value: topology } }),
  });
  const commentType = "SUBCELLULAR LOCATION";
  const json = {
    primaryAccession: "P04637",
    comments: [
      { commentType: "FUNCTION", texts: [] },
      {
        commentType,
        subcellularLocations: [at("Cytoplasm"), at("Cell membrane", "Multi-pass membrane protein")],
      },
      { commentType, molecule: "Isoform 2", subcellularLocations: [at("Nucleus")] },
      { commentType, molecule: "Fragment", subcellularLocations: [at("Secreted")] },
    ],
    sequence: { length: 393 },
  };
  const names = ["Cytoplasm", "Cell membrane; Multi-pass membrane protein", "Secreted"];
  const expected = names.map((name) => ({ group: "location", start: 1, end: 393, name }));
  for (const text of [flat, old, JSON.stringify(json)]) expect(readFeatures(text)).toMatchObject(expected);
  expect(readFeatures(JSON.stringify({ ...json, sequence: {} }))).toEqual([]);
});
