import { afterEach, beforeEach, expect, test } from "bun:test";
import { keepStoredFor, readStored, writeStored } from "../../src/web/stored.ts";

/** Storage as browsers have it, as far as the pages use it: its keys are its own properties. */
class FakeStorage {
  [name: string]: unknown;
  constructor(values: Record<string, string> = {}) {
    const own = (name: string, value: unknown): void =>
      void Object.defineProperty(this, name, { value, enumerable: false });
    own("getItem", (name: string) => this[name] ?? null);
    own("setItem", (name: string, value: string) => void (this[name] = value));
    own("removeItem", (name: string) => void delete this[name]);
    Object.assign(this, values);
  }
}
function open(local: Record<string, string> = {}, session: Record<string, string> = {}): void {
  Object.assign(globalThis, {
    localStorage: new FakeStorage(local),
    sessionStorage: new FakeStorage(session),
  });
}
const keptNames = (): string[][] => [localStorage, sessionStorage].map((kept) => Object.keys(kept).sort());

beforeEach(() => {
  open();
  keepStoredFor("ada");
});
afterEach(() => {
  keepStoredFor("");
  Reflect.deleteProperty(globalThis, "localStorage");
  Reflect.deleteProperty(globalThis, "sessionStorage");
});

test("values of a person have the account in their keys, those of the device do not", () => {
  expect([writeStored("density", "compact"), writeStored("protein", "P04637")]).toEqual([true, true]);
  expect(keptNames()).toEqual([["labd:density"], ["labd:protein@ada"]]);
  expect([readStored("protein", ""), readStored("density", "")]).toEqual(["P04637", "compact"]);
});

test("a value that is absent, removed or not JSON is the fallback", () => {
  expect(readStored("protein", "none")).toBe("none");
  writeStored("protein", 1);
  writeStored("protein", null);
  expect([readStored("protein", "none"), keptNames()]).toEqual(["none", [[], []]]);
  localStorage.setItem("labd:density", "{");
  expect(readStored("density", "none")).toBe("none");
});

test("forbidden storage is as if it were empty", () => {
  Reflect.deleteProperty(globalThis, "sessionStorage");
  expect([writeStored("protein", 1), readStored("protein", "none")]).toEqual([false, "none"]);
  keepStoredFor("ada");
});

test.each<[string, "local" | "session", string | null]>([
  ["labd:protein@ada", "session", "labd:protein@ada"],
  ["labd:protein@bob", "session", null],
  // Lists of results and batches, which the server has.
  ["labd:jobs@ada", "local", null],
  ["labd:batch@ada/b1", "local", null],
  // Of nobody: from before the sign-in.
  ["labd:protein@", "session", "labd:protein@ada"],
  // From before keys had owners.
  ["labd.jobs", "local", null],
  ["labd.batch.b1", "local", null],
  ["labd:protein", "session", null],
  ["labd:density", "local", "labd:density"],
  ["other/:jobs@bob", "local", "other/:jobs@bob"],
])("after ada signs in, %s of the %s storage becomes %p", (name, kind, kept) => {
  open(kind === "local" ? { [name]: "1" } : {}, kind === "session" ? { [name]: "1" } : {});
  keepStoredFor("ada");
  const names = kept === null ? [] : [kept];
  expect(keptNames()).toEqual(kind === "local" ? [names, []] : [[], names]);
});

test("a page that somebody left stores nothing more", () => {
  keepStoredFor("bob");
  expect([writeStored("protein", 1), readStored("protein", "none")]).toEqual([false, "none"]);
  expect(writeStored("density", "compact")).toBe(true);
});
