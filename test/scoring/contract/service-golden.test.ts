import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../../../src/app/open.ts";
import { resolveConfig } from "../../../src/config.ts";
import { CASES, expectGolden, expectMeta, FINISHED, requestOf, settled } from "./golden-case.ts";

/** Every golden message through the whole service, in memory. */

let directory: string;
let app: App;
let finished: string;

const send = async (init: RequestInit): Promise<Response> =>
  app.answer(new Request("http://127.0.0.1:8480/soap/ConservationScorer", init));
const golden = (name: string) => CASES.find((one) => one.name === name)!;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-golden-"));
  const flags = { data_dir: directory, log: "off", workers: "1" };
  app = await open(resolveConfig({ flags, environment: {} }).config);
  const accepted = await send(requestOf(golden("RunJob__accepted"), FINISHED));
  finished = /<tns:JobIdentifier>([^<]+)</.exec(await accepted.text())![1];
  const status = requestOf(golden("GetStatus__finished_job"), finished);
  while (!(await (await send(status)).text()).includes(">finished<")) await Bun.sleep(5);
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

for (const one of CASES) {
  test(one.name, async () => {
    const response = await send(requestOf(one, finished));
    const text = settled(await response.text());
    expectGolden(`${one.name}/response.xml`, text);
    expectMeta(one, { status: response.status });
    const is12 = text.includes('http://www.w3.org/2003/05/soap-envelope"><soap:Body>');
    expect(response.headers.get("content-type")).toBe(
      `${is12 ? "application/soap+xml" : "text/xml"}; charset=utf-8`,
    );
  });
}
