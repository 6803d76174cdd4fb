import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { reminders as remindersOf } from "../../src/inventory/index.ts";
import { openReminders } from "../../src/reminders/index.ts";
import { linkPurpose } from "../../src/accounts/account-routes.ts";
import { catchCode, type Json, openService } from "../fixtures/service.ts";
import { type Lab, openLab, START } from "../inventory/harness.ts";
import { openMailServer } from "./mail-server.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BASE = "https://lab.example/labd";

let lab: Lab;
let mail: ReturnType<typeof openMailServer>;
let service: ReturnType<typeof openReminders>;
let logged: object[];
const open = (smtpUrl = `smtp://labd:SECRET@127.0.0.1:${mail.port}?from=labd@lab.example`) =>
  openReminders({
    database: lab.database,
    clock: lab.clock,
    log: {
      info: (event, fields) => void logged.push({ event, ...(fields as object) }),
      problem: (event, fields) => void logged.push({ event, ...fields }),
    },
    accounts: lab.accounts,
    reminders: remindersOf(lab.database, lab.clock, BASE),
    smtpUrl,
    caFile: "",
    base: BASE,
    closeTimeout: 10,
  });
const setTime = (at: number): void => {
  lab.clock.set(at);
  setSystemTime(at);
};
const pollAt = (at: number): Promise<void> => {
  setTime(at);
  return service.sender.poll();
};
const add = async (values: object, as = "alice") => {
  const body = { name: "Taq", model_type: "ENZYME", ...values };
  const answer = await lab.send(as, "POST", "stocks/consumables/", body);
  expect(answer.status).toBe(201);
  return String(answer.body.id);
};
const ask = (method: string, path: string, as: string, body?: Json) =>
  openService(lab.accounts, [service.routes]).ask(method, path, {
    as: lab.tokens[as],
    ...(body ? { body } : {}),
  });
const enable = (as: string, enabled = true) => ask("PUT", "/api/account/reminders", as, { enabled });

beforeEach(async () => {
  lab = await openLab();
  mail = openMailServer();
  logged = [];
  service = open();
  setTime(START);
  for (const name of ["admin", "alice", "bob"])
    await lab.send(name, "PATCH", `users/${name}/`, { email: `${name}@lab.example` });
  lab.database.run("UPDATE user_account SET verified_email = email");
});
afterEach(async () => {
  await service.sender.close();
  mail.close();
  lab.database.close();
  setSystemTime();
});

describe("the daily e-mail", () => {
  test("lists expiring and low stock to users who switched reminders on", async () => {
    const expiring = await add({ name: "Taq\npolymerase µ", expiry: "2026-01-20", lot: "L1" });
    const box = { label: "Box 1", grid_rows: 1, grid_columns: 9, public: true };
    const { body: location } = await lab.send("alice", "POST", "locations/", box);
    const slot = { location: location.id!, position: "A7" };
    const low = await add({ name: "Ethanol", amount: 0.5, minimum_amount: 2, ...slot });
    await add({ name: "Later", expiry: "2026-03-01" });
    await add({ name: "Enough", amount: 3, minimum_amount: 2 });
    await pollAt(START + 7 * HOUR);
    expect(mail.got).toEqual([]);
    expect((await enable("alice")).body).toMatchObject({ enabled: true, email: "alice@lab.example" });
    await pollAt(START + 8 * HOUR);
    expect(mail.got.map(({ from, to }) => [from, to])).toEqual([["labd@lab.example", "alice@lab.example"]]);
    const [{ source, text }] = mail.got;
    expect(source).toMatch(/^Subject: Stock: 1 below minimum, 1 expiring soon\r$/m);
    expect(source).toMatch(/^List-Unsubscribe: <https:\/\/lab.example\/labd\/profile#reminders>\r$/m);
    expect(text).toContain(`Expiring in 30 days (1)
-----------------------

* New: Taq polymerase µ, expires 2026-01-20
  ${BASE}/inventory/stocks-consumables/${expiring}

Open the list:
${BASE}/inventory/running-out?state=expiring
`);
    expect(text).toContain(
      `* New: Ethanol, 0.5 left, minimum 2 (Box 1, A7)\n  ${BASE}/inventory/stocks-consumables/${low}`,
    );
    expect(text).toEndWith(`Change that here:\n${BASE}/profile#reminders`);
    expect(text).not.toMatch(/Later|Enough/);
  });

  test("tubes of a product count together, and are empty or expired as in the list of what is running out", async () => {
    const { body } = await lab.send("alice", "POST", "categories/", { name: "volume", kind: "unit" });
    const unit = { name: "microliter", category: body.id! };
    expect((await lab.send("alice", "POST", "terms/", unit)).status).toBe(201);
    const addProduct = async (name: string, values: object, tubes: object[]) => {
      const made = await lab.send("alice", "POST", "stocks/products/", { name, ...values });
      expect(made.status).toBe(201);
      for (const tube of tubes) await add({ name: `tube of ${name}`, product: made.body.id!, ...tube });
    };
    await addProduct("Stocked", { minimum_amount: 1 }, [{}, { status: "EMPTY" }, { expiry: "2025-01-01" }]);
    await addProduct("Few", { minimum_amount: 3 }, [{}, {}]);
    const amount = { unit: "microliter", amount: 40 };
    await addProduct("Little", { minimum_amount: 100, unit: "microliter" }, [amount, amount]);
    await addProduct("Gone", {}, [{ status: "EMPTY" }]);
    await addProduct("Soon", { minimum_amount: 2 }, [{ expiry: "2027-01-20" }, { expiry: "2026-01-20" }]);
    await add({ name: "Old", expiry: "2025-12-01" });
    await enable("alice");
    await pollAt(START + 8 * HOUR);
    const [{ source, text }] = mail.got;
    expect(source).toMatch(/^Subject: Stock: 3 below minimum, 1 expired, 1 expiring soon\r$/m);
    expect(text.match(/^\* .*$/gm)!.toSorted()).toEqual([
      "* New: Few, 2 tubes left, minimum 3 tubes",
      "* New: Gone, empty",
      "* New: Little, 80 µL left, minimum 100 µL",
      "* New: Old, expired 2025-12-01",
      "* New: Soon, expires 2026-01-20",
    ]);
    const { results } = (await lab.send("alice", "GET", "stocks/products/running_out/")).body;
    for (const { name } of results as { name: string }[]) expect(text).toContain(`* New: ${name}, `);
  });

  test("a reminder is sent once a day and only with new entries, also after a restart", async () => {
    await add({ name: "First", expiry: "2026-01-20" });
    await enable("alice");
    await pollAt(START + 8 * HOUR);
    await service.sender.close();
    service = open();
    await add({ name: "Second", expiry: "2026-01-21" });
    await pollAt(START + 9 * HOUR);
    expect(mail.got.length).toBe(1);
    await pollAt(START + DAY + 5 * HOUR);
    expect(mail.got.length).toBe(1);
    await pollAt(START + DAY + 6 * HOUR);
    expect(mail.got.length).toBe(2);
    expect(mail.got[1].text).toMatch(/\* New: Second[^*]*\* First/);
    await pollAt(START + 2 * DAY + 7 * HOUR);
    expect(mail.got.length).toBe(2);
  });

  test("a process that dies while sending neither repeats nor loses a reminder", async () => {
    const id = await add({ expiry: "2026-01-20" });
    await enable("alice");
    // The connection ends without an answer to the message: it may have been delivered.
    mail.answers.END = null;
    await pollAt(START + 8 * HOUR);
    delete mail.answers.END;
    service = open();
    await pollAt(START + 20 * HOUR);
    expect(mail.got).toEqual([]);
    await pollAt(START + DAY + 6 * HOUR);
    expect(mail.got.length).toBe(1);
    expect(mail.got[0].text).toContain(id);
    expect(mail.got[0].text).toContain("* New: ");
  });

  test("contains only records that the person may view, and owns or has by a group", async () => {
    await add({ name: "Of the group", expiry: "2026-01-20" });
    await add({ name: "Of another group, public", expiry: "2026-01-20", public: true }, "bob");
    await add({ name: "Shown to alice", expiry: "2026-01-20" }, "bob");
    const colleague = await lab.send("admin", "POST", "groups/Genomics/members/", ["admin"]);
    expect(colleague.status).toBeLessThan(300);
    for (const name of ["admin", "alice"]) await enable(name);
    await pollAt(START + 8 * HOUR);
    expect(mail.got.map(({ to }) => to)).toEqual(["admin@lab.example", "alice@lab.example"]);
    for (const { text } of mail.got)
      expect(text.match(/\* New: .*/g)).toEqual([expect.stringMatching("Of the group")]);
    await enable("bob");
    lab.accounts.setActive(lab.accounts.userId("bob"), false);
    await pollAt(START + 2 * DAY);
    expect(mail.got.length).toBe(2);
  });

  test("shows 50 records of a list, new ones first, and says how many more there are", async () => {
    for (let i = 0; i < 53; i++) await add({ name: `Old ${i}`, expiry: "2026-01-20" });
    await enable("alice");
    await pollAt(START + 8 * HOUR);
    expect(mail.got[0].text).toContain("3 more are in the list:");
    await add({ name: "Zinc", expiry: "2026-01-30" });
    await pollAt(START + DAY + 8 * HOUR);
    expect(mail.got[1].text.match(/^\* .*$/gm)).toHaveLength(50);
    expect(mail.got[1].text).toMatch(/^\* New: Zinc, expires 2026-01-30$/m);
  });

  test("a failed reminder is sent again, but not to an address that the mail server rejects permanently", async () => {
    await add({ expiry: "2026-01-20" });
    for (const name of ["admin", "alice"]) await enable(name);
    mail.answers.AUTH = "454 4.7.0 try later";
    await pollAt(START + 8 * HOUR);
    delete mail.answers.AUTH;
    expect((await ask("GET", "/api/account/reminders", "alice")).body.error).toBe(
      `Mail server 127.0.0.1:${mail.port}: It rejected user or password: 454 4.7.0 try later`,
    );
    await pollAt(START + 8 * HOUR + 1000);
    expect(mail.got).toEqual([]);
    mail.answers.RCPT = "550 5.1.1 no such user";
    await pollAt(START + 9 * HOUR);
    delete mail.answers.RCPT;
    await pollAt(START + 12 * HOUR);
    expect(mail.got).toEqual([]);
    await pollAt(START + DAY + 6 * HOUR);
    expect(mail.got.map(({ to }) => to)).toEqual(["alice@lab.example"]);
    expect((await ask("GET", "/api/account/reminders", "alice")).body).toMatchObject({ error: null });
    const causes = logged.flatMap((line) => ("cause" in line ? line.cause : []));
    const server = `Mail server 127.0.0.1:${mail.port}: It rejected`;
    expect(causes).toEqual([
      `${server} user or password: 454 4.7.0 try later`,
      `${server} the recipient …: 550 5.1.1 no such user`,
    ]);
    expect(JSON.stringify(logged)).not.toContain("SECRET");
  });
});

test("a mail server that failed is asked again after an hour", async () => {
  for (const name of ["alice", "bob"]) {
    await add({ expiry: "2026-01-20" }, name);
    await enable(name);
  }
  mail.answers.AUTH = "454 4.7.0 try later";
  for (const minutes of [0, 1, 59]) await pollAt(START + 8 * HOUR + minutes * 60_000);
  expect(logged).toEqual([expect.objectContaining({ event: "reminder not sent" })]);
  delete mail.answers.AUTH;
  await pollAt(START + 9 * HOUR);
  expect(mail.got.map(({ to }) => to).toSorted()).toEqual(["alice@lab.example", "bob@lab.example"]);
});

test("closing does not wait for a mail server that says nothing", async () => {
  await add({ expiry: "2026-01-20" });
  await enable("alice");
  mail.answers.MAIL = "";
  const polled = pollAt(START + 8 * HOUR);
  await mail.sender;
  const closed = Promise.race([service.sender.close().then(() => "closed"), polled.then(() => "sent")]);
  expect(await closed).toBe("closed");
  mail.close();
  await polled;
  expect(logged).toEqual([]);
});

describe("a record", () => {
  test("counts as new again after it was refilled and runs low again", async () => {
    const path = `stocks/consumables/${await add({ amount: 1, minimum_amount: 2 })}/`;
    await enable("alice");
    await pollAt(START + 8 * HOUR);
    await lab.send("alice", "POST", `${path}refill/`, { amount: 5 });
    await pollAt(START + DAY + 8 * HOUR);
    expect(mail.got.length).toBe(1);
    await lab.send("alice", "POST", `${path}consume/`, { amount: 5 });
    await pollAt(START + 2 * DAY + 8 * HOUR);
    expect(mail.got.length).toBe(2);
    await lab.send("alice", "DELETE", path);
    await add({ expiry: "2026-01-20" });
    await pollAt(START + 3 * DAY + 8 * HOUR);
    expect(mail.got[2].text).not.toContain("below minimum");
  });
});

describe("an address that is not verified", () => {
  const VERIFICATION = "/api/account/reminders/verification";
  const change = (email: string, by = "alice") => lab.send(by, "PATCH", "users/alice/", { email });
  const keyIn = (text: string): string =>
    /^https:\/\/lab.example\/labd\/verify-email\?key=(\S+)$/m.exec(text)![1];
  const confirm = (key: string) =>
    openService(lab.accounts, [service.routes]).ask("POST", `${VERIFICATION}/confirm`, {
      body: { key },
      headers: { Origin: "http://lab" },
    });
  const isVerified = async () => (await ask("GET", "/api/account/reminders", "alice")).body.verified;

  test.each(["alice", "admin"])("a new address (changed %s) gets one link and no reminders", async (by) => {
    await add({ expiry: "2026-01-20" });
    await enable("alice");
    expect((await change("new@lab.example", by)).status).toBe(200);
    for (const hours of [8, 32, 56]) await pollAt(START + hours * HOUR);
    expect(mail.got.map(({ to, source }) => [to, /^Subject: (.*)\r$/m.exec(source)![1]])).toEqual([
      ["new@lab.example", "Confirm your e-mail address"],
    ]);
    expect(mail.got[0].text).not.toContain("Taq");
    expect(await isVerified()).toBe(false);
    const key = keyIn(mail.got[0].text);
    expect(await confirm(key)).toMatchObject({ status: 200, body: { email: "new@lab.example" } });
    expect([await isVerified(), (await confirm(key)).status]).toEqual([true, 404]);
    const { database } = lab;
    const audited = database.query("SELECT 1 FROM audit WHERE action = 'account.verify_email'").all();
    expect(audited).toHaveLength(1);
    await pollAt(START + 57 * HOUR);
    expect(mail.got.at(-1)).toMatchObject({
      to: "new@lab.example",
      text: expect.stringContaining("* New: Taq"),
    });
  });

  test("an address is verified by its latest link only, for 72 hours and while the account has it", async () => {
    await change("new@lab.example");
    const send = async () => {
      expect((await ask("POST", VERIFICATION, "alice")).body).toEqual({ email: "new@lab.example" });
      return keyIn(mail.got.at(-1)!.text);
    };
    const [first, second] = [await send(), await send()];
    expect((await confirm(first)).status).toBe(404);
    await change("other@lab.example");
    expect((await confirm(second)).status).toBe(404);
    await change("new@lab.example");
    setTime(START + 72 * HOUR);
    expect((await confirm(second)).status).toBe(404);
    expect(await isVerified()).toBe(false);
  });

  test("a verification link can be requested again after a failure of the mail server", async () => {
    await enable("alice");
    await change("new@lab.example");
    mail.answers.AUTH = "454 4.7.0 try later";
    await pollAt(START + 8 * HOUR);
    delete mail.answers.AUTH;
    expect(mail.got).toEqual([]);
    await pollAt(START + 9 * HOUR);
    expect(mail.got.map(({ to }) => to)).toEqual(["new@lab.example"]);
  });

  test("an address gets ten links, then one after each delay, and none once verified", async () => {
    const fetchStatus = async () => (await ask("POST", VERIFICATION, "alice")).status;
    expect(await fetchStatus()).toBe(409);
    await change("new@lab.example");
    for (let i = 0; i < 10; i++) expect(await fetchStatus()).toBe(200);
    expect([await fetchStatus(), mail.got.length]).toEqual([429, 10]);
    setTime(START + 30_000);
    expect(await fetchStatus()).toBe(200);
  });

  test("a verification link sets no password, and a password link verifies no address", async () => {
    await change("new@lab.example");
    await ask("POST", VERIFICATION, "alice");
    const alice = lab.accounts.userId("alice");
    const key = keyIn(mail.got[0].text);
    expect(await catchCode(() => lab.accounts.setPasswordByLink(key, "a long password"))).toBe("not_found");
    const password = lab.accounts.links.make(alice, 1).key;
    expect((await confirm(password)).status).toBe(404);
    expect(linkPurpose(lab.accounts, key)).toBe("email");
    expect(linkPurpose(lab.accounts, password)).toBe("password");
    expect((await confirm(key)).status).toBe(200);
  });
});

describe("settings", () => {
  test("reminders are off by default, and need a mail server and an address", async () => {
    expect((await ask("GET", "/api/account/reminders", "alice")).body).toEqual({
      enabled: false,
      available: true,
      email: "alice@lab.example",
      verified: true,
      sent: null,
      error: null,
    });
    await lab.send("bob", "PATCH", "users/bob/", { email: "" });
    expect(await enable("bob")).toMatchObject({ status: 409, body: { code: "conflict" } });
    await enable("alice");
    expect((await enable("alice", false)).body.enabled).toBe(false);
    expect((await ask("PUT", "/api/account/reminders", "alice", { enabled: "x" })).status).toBe(400);
    service = open("");
    const refused = await enable("alice");
    expect(refused.body.message).toBe("There is no mail server: set smtp_url. Ask an administrator.");
  });

  test("administrators send a test message to themselves, and see the answer of each server", async () => {
    expect(await ask("POST", "/api/admin/reminders/test", "alice")).toMatchObject({ status: 403 });
    const sent = await ask("POST", "/api/admin/reminders/test", "admin");
    expect([sent.status, sent.body]).toEqual([200, { email: "admin@lab.example" }]);
    expect(mail.got[0].text).toContain("This is a test message");
    const server = `Mail server 127.0.0.1:${mail.port}: `;
    const rows: [string, string | null, string][] = [
      ["GREETING", "554 go away", `${server}It cannot be used: 554 go away`],
      ["AUTH", "535 5.7.8 no", `${server}It rejected user or password: 535 5.7.8 no`],
      ["MAIL", "550 not yours", `${server}It rejected the sender labd@lab.example: 550 not yours`],
      ["RCPT", "550 unknown", `${server}It rejected the recipient admin@lab.example: 550 unknown`],
      ["DATA", "451 full", `${server}It rejected the message: 451 full`],
      ["END", "554 spam", `${server}It rejected the message: 554 spam`],
      ["END", null, `${server}It closed the connection: Connection closed unexpectedly`],
    ];
    for (const [command, said, message] of rows) {
      mail.answers[command] = said;
      const { status, body } = await ask("POST", "/api/admin/reminders/test", "admin");
      expect([status, body.code, body.message]).toEqual([502, "email_failed", message]);
      delete mail.answers[command];
    }
    service = open("smtp://127.0.0.1:1?from=a@b.c");
    expect((await ask("POST", "/api/admin/reminders/test", "admin")).body.message).toBe(
      "Mail server 127.0.0.1:1: The connection was refused: connect ECONNREFUSED 127.0.0.1:1",
    );
  });
});
