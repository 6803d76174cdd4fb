import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

describe("writes without permission:", () => {
  test.each([
    ["POST", "locations/"],
    ["PUT", "locations/"],
    ["PATCH", "locations/"],
    ["PUT", `locations/${IDS.shelf}/`],
    ["PATCH", `locations/${IDS.shelf}`],
    ["DELETE", `locations/${IDS.shelf}/`],
    ["DELETE", `locations/${IDS.secret}/`],
    ["DELETE", "locations/bulk_delete/"],
  ])("rejects %s %s from anonymous callers", async (method, path) => {
    const { status, headers, body } = await lab.ask(method, path, { body: {} });
    const text = "Authentication credentials were not provided.";
    expect({ status, body }).toEqual({ status: 401, body: { detail: text, message: text } });
    expect(headers.get("www-authenticate")).toBe("Token, Bearer");
  });

  test.each([
    ["PUT", `locations/${IDS.shelf}/`, 403],
    ["PATCH", `locations/${IDS.shelf}/`, 403],
    ["DELETE", `locations/${IDS.shelf}/`, 403],
    ["PATCH", `locations/${IDS.secret}/`, 404],
    ["DELETE", `locations/${IDS.secret}/`, 404],
    ["PATCH", `locations/${IDS.note}/`, 404],
    ["DELETE", "locations/", 405],
    ["POST", `locations/${IDS.shelf}/`, 405],
    ["TRACE", "locations/", 405],
    ["DELETE", "", 405],
    ["POST", "version/", 405],
    ["POST", "users/bob", 405],
    ["PUT", `resolver/${IDS.shelf}/`, 405],
  ])("bob's request %s %s returns %d", async (method, path, wanted) => {
    const { status, headers, body } = await lab.ask(method, path, { as: "bob", body: { label: "x" } });
    const texts: Record<number, string> = {
      403: "You do not have permission to perform this action.",
      404: "Not found.",
      405: `Method "${method}" not allowed.`,
    };
    const detail = expect.stringContaining(texts[wanted]);
    expect({ status, body }).toEqual({ status: wanted, body: { detail, message: detail } });
    expect(headers.has("allow")).toBe(wanted === 405);
  });

  test("rejects an invalid token, also for reading", async () => {
    for (const [Authorization, status, detail] of [
      ["Token wrong", 401, "Invalid token."],
      [`Bearer ${lab.tokens.alice}`, 200, undefined],
    ] as const) {
      const answer = await lab.ask("GET", "locations/", { headers: { Authorization } });
      expect([answer.status, answer.body.detail] as unknown[]).toEqual([status, detail]);
    }
  });

  test("requires credentials for reading if anonymous reading is off", async () => {
    const closed = await openLab({ anonymousRead: false });
    for (const path of ["", "locations/", `locations/${IDS.shelf}/`])
      expect((await closed.ask("GET", path)).status).toBe(401);
    expect((await closed.ask("GET", "locations/", { as: "bob" })).status).toBe(200);
    closed.database.close();
  });
});
