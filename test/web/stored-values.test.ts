import { afterEach, beforeEach, expect, test } from "bun:test";
import { keepStoredFor, readStored, storedParts, writeStored } from "../../src/web/stored.ts";

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
  expect([
    writeStored("batch", ["j1"]),
    writeStored("batch", { rows: 2 }, "b1"),
    writeStored("density", "compact"),
    writeStored("protein", "P04637"),
  ]).toEqual([true, true, true, true]);
  expect(keptNames()).toEqual([
    ["labd:batch@ada", "labd:batch@ada/b1", "labd:density"],
    ["labd:protein@ada"],
  ]);
  expect([
    readStored("batch", []),
    readStored("batch", null, "b1"),
    readStored("density", ""),
  ] as unknown).toEqual([["j1"], { rows: 2 }, "compact"]);
});

test("a value that is absent, removed or not JSON is the fallback", () => {
  expect(readStored("batch", "none")).toBe("none");
  writeStored("batch", 1);
  writeStored("batch", null);
  expect([readStored("batch", "none"), keptNames()]).toEqual(["none", [[], []]]);
  localStorage.setItem("labd:density", "{");
  expect(readStored("density", "none")).toBe("none");
});

test("lists the stored parts of a key", () => {
  for (const part of ["b1", "b2", ""]) writeStored("batch", 1, part);
  writeStored("protein", 1, "b3");
  expect([storedParts("batch"), storedParts("protein"), storedParts("scans")]).toEqual([
    ["b1", "b2"],
    ["b3"],
    [],
  ]);
});

test("forbidden storage is as if it were empty", () => {
  Reflect.deleteProperty(globalThis, "localStorage");
  expect([writeStored("batch", 1), readStored("batch", "none"), storedParts("batch")]).toEqual([
    false,
    "none",
    [],
  ]);
  keepStoredFor("ada");
});

test.each<[string, "local" | "session", string | null]>([
  ["labd:batch@ada", "local", "labd:batch@ada"],
  // Lists of results, which the server has.
  ["labd:jobs@ada", "local", null],
  ["labd:motif-scans@", "local", null],
  ["labd:batch@bob", "local", null],
  ["labd:batch@bob/b1", "local", null],
  // Of nobody: from before the sign-in. A tab keeps its own.
  ["labd:batch@", "local", "labd:batch@"],
  ["labd:protein@", "session", "labd:protein@ada"],
  // Of version 0.2.0.
  ["labd.jobs", "local", null],
  ["labd.batch.b1", "local", "labd:batch@ada/b1"],
  ["labd:protein", "session", "labd:protein@ada"],
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
  expect([writeStored("batch", 1), readStored("batch", "none"), storedParts("batch")]).toEqual([
    false,
    "none",
    [],
  ]);
  expect(writeStored("density", "compact")).toBe(true);
});
