import { expect, test } from "bun:test";
import { motifParameters } from "../../src/web/batch/batch.ts";
import { formerBatch } from "../../src/web/batch/former-batch.ts";

/** A batch as version 0.2.0 put it into a link. */
const FORMER = {
  id: "abc",
  created: 1,
  model: "continuous",
  groups: [{ patterns: ["P..P"], motifClasses: ["LxCxE"] }],
  items: [
    { name: "one", query: null, group: 0, line: 3, job: "01a2" },
    { name: "two", query: { accession: "P04637" }, group: 0, job: null },
  ],
};
async function packed(value: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
}

test("a link to a batch of an earlier version shows its submitted jobs", async () => {
  const { groups, items } = (await formerBatch("abc", await packed(FORMER)))!;
  expect(items).toEqual([
    { position: 0, name: "one", group: 0, line: 3, job: "01a2", state: "queued", failure: null },
  ]);
  expect(motifParameters(groups)).toEqual({ pattern: ["P..P"], class: ["LxCxE"] });
});

test.each([
  ["an empty fragment", ""],
  ["a fragment of another kind", "x"],
  ["an unknown group", { ...FORMER, items: [{ ...FORMER.items[0], group: 7 }] }],
  ["no groups", { ...FORMER, groups: [] }],
  ["an id that is no text", { ...FORMER, id: 7 }],
])("%s is not a link to a batch", async (_, value) => {
  expect(await formerBatch("abc", typeof value === "string" ? value : await packed(value))).toBeNull();
});
