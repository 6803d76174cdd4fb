import { expect, test } from "bun:test";
import { openScoringAlone } from "./scoring-harness.ts";

test.each([
  ["/", 404, "not_found", null],
  ["/RunJob", 404, "not_found", null],
  ["/messages.xsd", 405, "method_not_allowed", "GET, HEAD, OPTIONS"],
] as const)("a message posted to %s below the endpoint gets a fault", async (path, status, code, allow) => {
  const service = await openScoringAlone({});
  const response = await service.send(
    new Request(`http://lab.example:8480/soap/ConservationScorer${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/soap+xml" },
      body: "<a/>",
    }),
  );
  expect([response.status, response.headers.get("allow")]).toEqual([status, allow]);
  expect(response.headers.get("content-type")).toBe("application/soap+xml; charset=utf-8");
  expect(await response.text()).toContain(`<p:code>${code}</p:code>`);
  await service.close();
});
