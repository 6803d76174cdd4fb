import { expect, test } from "bun:test";
import { fillFilter } from "../../../src/accounts/external/ldap-filter.ts";
import {
  accountNameOf,
  membershipsBy,
  plainEmail,
  plainText,
  readMap,
  readNames,
} from "../../../src/accounts/external/person.ts";

test("what is filled into a filter cannot end it", () => {
  expect(fillFilter("(&(a=b)(uid={username}))", { username: "*)(uid=*" })).toBe(
    "(&(a=b)(uid=\\2a\\29\\28uid=\\2a))",
  );
  expect(fillFilter("({dn}{username}{other})", { dn: "a\\,b\0", username: "{dn}" })).toBe(
    "(a\\5c,b\\00{dn}{other})",
  );
  expect(fillFilter("(cn={username})", { username: "Jürgen" })).toBe("(cn=Jürgen)");
});

test("groups follow where any of those that stand for them has somebody", () => {
  const map = readMap("genomics=Genomics, Sequencing = Genomics,imaging=Imaging");
  expect([...membershipsBy(map, ["SEQUENCING", "other"])]).toEqual([
    ["Genomics", true],
    ["Imaging", false],
  ]);
  expect(readNames(" a, b c ,,")).toEqual(["a", "b c"]);
});

test("names that differ in case or in how letters are put together are one account", () => {
  expect(accountNameOf(" Kim ")).toBe("kim");
  expect(accountNameOf("ju\u0308rgen")).toBe("j\u00fcrgen");
  expect(accountNameOf("\uff4b\uff49\uff4d")).toBe("kim");
});

test("names and addresses of others are text, or nothing", () => {
  expect(plainText(" Kim\u0000\u202e\nKuhn ")).toBe("Kim Kuhn");
  expect(plainText("x".repeat(300))).toHaveLength(200);
  expect(plainEmail("kim@lab.example")).toBe("kim@lab.example");
  for (const none of ["kim", "k im@lab", `${"k".repeat(260)}@lab`]) expect(plainEmail(none)).toBe("");
});
