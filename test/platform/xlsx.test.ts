import { expect, test } from "bun:test";
import { xlsxFile, xlsxText } from "../../src/platform/xlsx.ts";
import { unzipAll } from "../unzip.ts";

test.each([0, 1, 32_766, 32_767, 32_768, 40_000])(
  "a text of %i characters is cut off at 32,767",
  (length) => {
    const text = "ab".repeat(20_000).slice(0, length);
    expect(xlsxText(text)).toBe(text.slice(0, 32_767));
  },
);

test("a spreadsheet has a header, typed cells, and a title without characters that Excel forbids", async () => {
  const rows = [["=1+1", 1.5, true, null]];
  const file = xlsxFile([{ title: "a/b [c] ".repeat(10), names: ["w", "x", "y", "z"], rows }]);
  const files = unzipAll(await new Response(file).bytes());
  const all = [...files.values()].map(String).join("\n");
  expect(all).toContain(`name="${"a b  c  ".repeat(4).slice(0, 31)}"`);
  for (const part of [">w<", ">=1+1<", "<v>1.5</v>"]) expect(all).toContain(part);
  expect(all).not.toContain("<f>");
});
