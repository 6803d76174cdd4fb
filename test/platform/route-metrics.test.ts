import { expect, test } from "bun:test";
import { Metrics } from "../../src/platform/metrics.ts";
import { metricsRoutes } from "../../src/platform/route-metrics.ts";
import { openBare } from "./bare-http.ts";

const TOKEN = "0123456789abcdef";
const metrics = new Metrics();
metrics.ask("gauge", "up", "Whether it runs.", () => 1);
const open = (token: string) => openBare([metricsRoutes(metrics, token)]);

const ELSEWHERE = "192.0.2.7";
test.each<[address: string | null, isUnix: boolean, headers: Record<string, string>, status: number]>([
  ["127.0.0.1", false, {}, 200],
  ["127.8.0.1", false, {}, 200],
  ["::1", false, {}, 200],
  ["::ffff:127.0.0.1", false, {}, 200],
  [null, true, {}, 200],
  [null, false, {}, 403],
  [ELSEWHERE, false, {}, 403],
  ["::12", false, {}, 403],
  ["127.0.0.1", false, { "X-Forwarded-For": ELSEWHERE }, 403],
  ["127.0.0.1", false, { Forwarded: "for=192.0.2.7" }, 403],
  ["127.0.0.1", false, { Via: "1.1 proxy" }, 403],
  [null, true, { "X-Real-IP": ELSEWHERE }, 403],
  [ELSEWHERE, false, { Authorization: `Bearer ${TOKEN}` }, 200],
  [ELSEWHERE, false, { Authorization: `bearer ${TOKEN}`, Via: "1.1 proxy" }, 200],
  [ELSEWHERE, false, { Authorization: `Token ${TOKEN}` }, 403],
  [ELSEWHERE, false, { Authorization: `Bearer ${TOKEN}0` }, 403],
])("a request from %p (Unix socket: %p) with %j returns %d", async (address, isUnix, headers, status) => {
  const arrival = { address: () => address, origin: () => "http://lab", isUnix };
  const response = await open(TOKEN)(new Request("http://lab/metrics", { headers }), arrival);
  expect(response.status).toBe(status);
  expect((await response.text()).includes("up 1\n")).toBe(status === 200);
});

test("an empty token grants no access", async () => {
  const request = new Request("http://lab/metrics", { headers: { Authorization: "Bearer x" } });
  const arrival = { address: () => ELSEWHERE, origin: () => "http://lab" };
  expect((await open("")(request, arrival)).status).toBe(403);
  const none = new Request("http://lab/metrics", { headers: { Authorization: "Bearer" } });
  expect((await open("")(none)).status).toBe(403);
});
