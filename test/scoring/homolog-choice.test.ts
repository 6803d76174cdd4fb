import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";

setDefaultTimeout(60_000);

let service: ScoringAlone;
beforeAll(async () => {
  service = await openScoringAlone({ workers: 1, corpus: true });
});
afterAll(() => service.close());

const SUBMISSION = { identifier: "p53", querySequence: P53, patterns: ["F...W..[VIL]"] };

test("scores with the chosen homologs, and names the choice", async () => {
  const result = async (homologs?: object) => {
    const accepted = await service.ask("POST", "/jobs", { body: { ...SUBMISSION, homologs } });
    expect(accepted.status).toBe(202);
    await ended(service, accepted.json.id);
    return (await service.ask("GET", `/jobs/${accepted.json.id}/result`)).json;
  };
  const all = await result({});
  const [first] = all.homologs;
  const maxIdentity = first.identity - 0.001;
  const few = await result({ maxIdentity, maxHomologs: 5, leaveOut: [all.homologs[3].accession] });
  expect(few.homologs).toHaveLength(5);
  for (const { accession, identity } of few.homologs) {
    expect(accession).not.toBe(all.homologs[3].accession);
    expect(identity).toBeLessThanOrEqual(maxIdentity);
  }
  expect(few.warnings[0]).toStartWith("Homologs were chosen: with 25 % to ");
  expect(all.warnings).toEqual([]);
  expect((await result({ organisms: null, leaveOut: [] })).homologs).toEqual(all.homologs);
});

test("shows the choice with the job", async () => {
  const homologs = { organisms: ["Mus musculus"], maxHomologs: 5 };
  const { json } = await service.ask("POST", "/jobs", { body: { ...SUBMISSION, homologs } });
  expect(json).toMatchObject({ homologs, hasOwnAlignment: false });
  const plain = await service.ask("POST", "/jobs", { body: SUBMISSION });
  expect(plain.json.homologs).toBeNull();
});

test.each([
  [
    { organisms: ["Homo sapeins"] },
    'homologs.organisms[0]: the corpus in use has no protein of "Homo sapeins".',
  ],
  [{ leaveOut: ["P0"] }, 'homologs.leaveOut[0]: the corpus in use has no protein "P0" to leave out.'],
  [{ minIdentity: 0.9, maxIdentity: 0.5 }, "minIdentity: the minimum identity is above the maximum."],
  [{ minIdentity: 0.1 }, "minIdentity: Must be at least 0.25."],
  [{ maxHomologs: 101 }, "maxHomologs: Must be at most 100."],
  [{ species: ["Homo sapiens"] }, "Unknown field. Choices: organisms, leaveOut"],
])("rejects the choice %j", async (homologs, message) => {
  const { status, json } = await service.ask("POST", "/jobs", { body: { ...SUBMISSION, homologs } });
  expect(status).toBe(400);
  expect(JSON.stringify(json.fields ?? json).replaceAll("\\", "")).toContain(message);
});
