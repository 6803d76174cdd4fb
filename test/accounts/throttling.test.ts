import { expect, test } from "bun:test";
import { asRequest } from "../fixtures/request.ts";
import { attempt, MINUTE, openAccounts, PASSWORD, catchProblem, request } from "./stage.ts";

const HOME = "192.0.2.10";
const ELSEWHERE = "198.51.100.7";
const WRONG = "wrong horse";

async function opened() {
  const stage = openAccounts();
  for (const username of ["kim", "lee"]) await stage.accounts.addUser({ username, password: PASSWORD });
  const { accounts } = stage;
  const fail = async (times: number, username: string, from: string): Promise<void> => {
    for (let i = 0; i < times; i++)
      expect(await attempt(accounts, { username, password: WRONG }, from)).toBe("unauthenticated");
  };
  const signIn = (username: string, from: string) =>
    attempt(accounts, { username, password: PASSWORD }, from);
  /** Signs in by a browser with these cookies. @returns the cookie that makes it known, or the code of the problem */
  const browse = async (
    username: string,
    from: string,
    cookie = "",
    password = PASSWORD,
  ): Promise<string> => {
    const sent = request(cookie === "" ? {} : { cookie }, "POST");
    const work = () => accounts.openSession({ username, password }, sent);
    return asRequest(sent, work, from).then(
      ({ browserCookie }) => browserCookie!.split(";")[0],
      (error: { code: string }) => error.code,
    );
  };
  return { ...stage, fail, signIn, browse };
}

test("wrong passwords from one address do not lock out other addresses", async () => {
  const { fail, signIn } = await opened();
  await fail(10, "kim", ELSEWHERE);
  expect(await signIn("kim", ELSEWHERE)).toBe("throttled");
  expect(await signIn("kim", HOME)).toBe("ok");
  // Others behind the same address sign in, too.
  expect(await signIn("lee", ELSEWHERE)).toBe("ok");
});

test("delays grow with each failure, up to 15 minutes, and end with a success or after a day", async () => {
  const { accounts, clock, fail, signIn } = await opened();
  await fail(10, "kim", ELSEWHERE);
  const delays: string[] = [];
  for (let i = 0; i < 8; i++) {
    const { headers } = await catchProblem(() =>
      asRequest(request(), () => accounts.signIn({ username: "kim", password: PASSWORD }), ELSEWHERE),
    );
    delays.push(headers["Retry-After"]);
    clock.at += Number(headers["Retry-After"]) * 1000;
    await fail(1, "kim", ELSEWHERE);
  }
  expect(delays).toEqual(["30", "60", "120", "240", "480", "900", "900", "900"]);
  clock.at += 15 * MINUTE;
  expect(await signIn("kim", ELSEWHERE)).toBe("ok");
  await fail(10, "kim", ELSEWHERE);
  expect(await signIn("kim", ELSEWHERE)).toBe("throttled");
  clock.at += 24 * 60 * MINUTE;
  await fail(10, "kim", ELSEWHERE);
});

test("known browsers sign in while an account is guessed from many addresses, and behind an address that guesses", async () => {
  const { fail, signIn, browse } = await opened();
  const cookie = await browse("kim", HOME);
  expect(cookie).toStartWith("labd_browser_");
  for (let i = 0; i < 10; i++) await fail(10, "kim", `203.0.113.${i}`);
  expect(await signIn("kim", HOME)).toBe("throttled");
  expect(await browse("kim", HOME)).toBe("throttled");
  expect(await browse("kim", HOME, cookie)).toStartWith("labd_browser_");
  for (let i = 0; i < 100; i++) await fail(1, `user${i}`, ELSEWHERE);
  expect(await browse("lee", ELSEWHERE)).toBe("throttled");
  expect(await browse("kim", ELSEWHERE, cookie)).toStartWith("labd_browser_");
});

test("a known browser has its own growing delay, for its account only", async () => {
  const { accounts, clock, browse } = await opened();
  const kim = await browse("kim", HOME);
  const lee = await browse("lee", HOME, kim);
  expect(lee.split("=")[0]).not.toBe(kim.split("=")[0]);
  for (let i = 0; i < 10; i++)
    expect(await browse("kim", HOME, `${kim}; ${lee}`, WRONG)).toBe("unauthenticated");
  expect(await browse("kim", HOME, `${kim}; ${lee}`)).toBe("throttled");
  expect(await browse("lee", HOME, `${kim}; ${lee}`)).toStartWith(lee.split("=")[0]);
  const id = (username: string) => accounts.list().find((user) => user.username === username)!.id;
  const find = (user: string, cookie: string) => accounts.browsers.find(id(user), request({ cookie }));
  expect(find("kim", kim)).toBeString();
  // The mark of another account, a changed one, and an old one.
  expect(find("lee", `${lee.split("=")[0]}=${kim.split("=")[1]}`)).toBeUndefined();
  expect(find("kim", `${kim.slice(0, -4)}AAAA`)).toBeUndefined();
  expect(openAccounts().accounts.browsers.find(id("kim"), request({ cookie: kim }))).toBeUndefined();
  clock.at += 181 * 24 * 60 * MINUTE;
  expect(find("kim", kim)).toBeUndefined();
});

test("reports throttled sign-ins once, with the address and the name of known accounts only", async () => {
  const { accounts, fail, signIn } = await opened();
  const reported: (string | null)[][] = [];
  accounts.audit.onThrottled = (username, address) => reported.push([username, address]);
  await fail(10, "kim", ELSEWHERE);
  await fail(10, "a password?", ELSEWHERE);
  for (let i = 0; i < 3; i++)
    expect([await signIn("kim", ELSEWHERE), await signIn("a password?", ELSEWHERE)]).toEqual([
      "throttled",
      "throttled",
    ]);
  expect(reported).toEqual([
    ["kim", ELSEWHERE],
    [null, ELSEWHERE],
  ]);
});
