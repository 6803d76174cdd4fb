import { expect, test } from "bun:test";
import {
  currentOrigin,
  currentRequest,
  identify,
  onBehalf,
  RequestContext,
  runInRequest,
} from "../../src/platform/request-context.ts";

const arrival = { address: () => "192.0.2.1", origin: () => "http://lab" };
const makeContext = (id = "r1") => new RequestContext(new Request("http://lab/"), id, arrival);
const known = { address: "192.0.2.1", request: "r1" };

test.each([
  [{ username: "kim" }, { actor: "kim", via: "none", token: null }],
  [
    { username: "kim", token: null },
    { actor: "kim", via: "none", token: null },
  ],
  [
    { username: "kim", token: 3 },
    { actor: "kim", via: "token", token: 3 },
  ],
  [
    { username: "kim", via: "session" },
    { actor: "kim", via: "session", token: null },
  ],
  [{ username: null }, { actor: null, via: "none", token: null }],
] as const)("the update %j is recorded as %j", (who, identity) => {
  runInRequest(makeContext(), () => {
    identify(who);
    expect(currentOrigin()).toEqual({ ...identity, ...known });
  });
});

test("code outside of requests has no origin", () => {
  identify({ username: "kim" });
  expect([currentOrigin(), currentRequest()]).toEqual([undefined, undefined]);
});

test("work that is bound to a request keeps its origin", () => {
  const bound = runInRequest(makeContext(), () => {
    identify({ username: "kim" });
    return onBehalf(() => currentOrigin()?.actor);
  });
  expect(bound()).toBe("kim");
  expect(runInRequest(makeContext("r2"), bound)).toBe("kim");
  const free = onBehalf(() => currentOrigin()?.actor ?? "nobody");
  expect(free()).toBe("nobody");
});
