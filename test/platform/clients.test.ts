import { expect, test } from "bun:test";
import { type Client, clientRoutes } from "../../src/platform/clients.ts";
import { openBare } from "./bare-http.ts";

/** The routes of the clients from source, where there are none; test/executable/client-packages.test.ts has the others. */

const answer = openBare([
  clientRoutes({
    version: "1.2.3",
    findBase: () => "http://lab",
    page: async (_, clients: readonly Client[]) => new Response(`page of ${clients.length}`),
  }),
]);
const ask = (path: string, accept = "*/*"): Promise<Response> =>
  answer(new Request(`http://lab${path}`, { headers: { Accept: accept } }));

test.each(["/clients", "/clients/"])(
  "%s is JSON for programs and a page for browsers and pip",
  async (path) => {
    const response = await ask(path);
    expect(response.headers.get("vary")).toContain("Accept");
    expect(await response.json()).toEqual({ version: "1.2.3", results: [] });
    expect(await (await ask(path, "text/html,application/xhtml+xml,*/*;q=0.8")).text()).toBe("page of 0");
    const pip =
      "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01";
    expect(await (await ask(path, pip)).text()).toBe("page of 0");
  },
);

test("an unknown file gets 404, which names the list", async () => {
  const response = await ask("/clients/labd-9.9.9.tgz");
  expect(response.status).toBe(404);
  expect(((await response.json()) as { message: string }).message).toContain("/clients/");
});
