import { expect, test } from "bun:test";
import { labd, scratch, serve } from "./labd.ts";

/** Pages, explanations and leniency of the inventory, from the executable. */

test("a person signs in on a page, adds a record by its form, and finds it; a program asks how it was found", async () => {
  using data = scratch();
  const made = await labd(
    ["user", "add", "kim", "--password-stdin", "--group", "Freezers", "--data-dir", data.directory],
    { stdin: "a long password" },
  );
  expect(made.code).toBe(0);
  await using server = await serve(data.directory);
  const api = `${server.url}/api/v2/`;
  const origin = new URL(server.url).origin;
  const page = { Accept: "text/html,*/*;q=0.8" };
  const post = (address: string, fields: Record<string, string>, cookie = "") =>
    fetch(address, {
      method: "POST",
      redirect: "manual",
      headers: { ...page, Origin: origin, ...(cookie ? { Cookie: cookie } : {}) },
      body: new URLSearchParams(fields),
    });

  const reading = await fetch(`${api}locations/`, { headers: page });
  expect(reading.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(reading.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await reading.text()).toContain("Sign in to add and edit records");

  const signed = await post(`${api}session/`, {
    username: "kim",
    password: "a long password",
    next: "/api/v2/locations/?format=api",
  });
  expect([signed.status, signed.headers.get("location")]).toEqual([303, "/api/v2/locations/?format=api"]);
  const cookie = signed.headers.get("set-cookie")!.split(";")[0];
  const added = await post(
    `${api}locations/`,
    { _method: "POST", _content: '{"label": "Box of Kim"}' },
    cookie,
  );
  expect(added.status).toBe(303);
  const shown = await fetch(added.headers.get("location")!, { headers: { ...page, Cookie: cookie } });
  expect(await shown.text()).toContain("Box of Kim");
  expect((await post(`${api}locations/`, { _content: "{}" }, cookie)).status).toBe(400);
  expect((await post(`${api}locations/`, { _content: '{"label": "x"}' })).status).toBe(401);

  const explained = await fetch(`${api}locations/?query=kim+box&explain=1`, { headers: { Cookie: cookie } });
  const explanation = (await explained.json()) as { total: number; statements: { plan: string[] }[] };
  expect(explanation.total).toBe(1);
  expect(explanation.statements[0].plan.join()).toContain("VIRTUAL TABLE INDEX");
  const lenient = await fetch(`${api}locations/?colour=red&strict=0`);
  expect([lenient.status, lenient.headers.get("warning")]).toEqual([200, '299 labd "Ignored: colour"']);
  expect((await fetch(`${api}locations/?colour=red`)).status).toBe(400);
  const nested = encodeURIComponent(
    '{"or":[{"category":"label","operator":"contains","value":"of Kim"},{"not":{"category":"owner","operator":"==","value":"kim"}}]}',
  );
  const found = await fetch(`${api}locations/?query_expression=${nested}`, { headers: { Cookie: cookie } });
  expect(((await found.json()) as { total: number }).total).toBe(1);
});
