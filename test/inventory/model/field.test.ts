import { expect, test } from "bun:test";
import {
  type Field,
  KINDS,
  parseInstant,
  parseUuid,
  printInstant,
  prose,
  quoted,
  text,
} from "../../../src/inventory/model/field.ts";
import { seeded } from "../random.ts";

const at = (text: string): string | undefined => {
  const micros = parseInstant(text);
  return micros === undefined ? undefined : printInstant(micros);
};

test.each([
  ["2026-01-31", "2026-01-31T00:00:00.000000+00:00"],
  ["2026-01-31T09:30", "2026-01-31T09:30:00.000000+00:00"],
  ["2026-01-31 09:30:15", "2026-01-31T09:30:15.000000+00:00"],
  ["2023-02-23T17:04:55.777723+01:00", "2023-02-23T16:04:55.777723+00:00"],
  ["2023-02-23T17:04:55.777723 01:00", "2023-02-23T16:04:55.777723+00:00"],
  ["2023-02-23T17:04:55,7Z", "2023-02-23T17:04:55.700000+00:00"],
  ["2023-02-23T00:30:00-0530", "2023-02-23T06:00:00.000000+00:00"],
  ["1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999+00:00"],
  ["2024-02-29", "2024-02-29T00:00:00.000000+00:00"],
])("parses the time %s", (typed, printed) => {
  expect(at(typed)).toBe(printed);
});

test.each([
  "",
  "yesterday",
  "2026",
  "2026-02-29",
  "2026-13-01",
  "2026-01-01T24:00",
  "2026-01-01T10:60",
  "20260101",
  "0050-01-01",
])("rejects the time %p", (typed) => {
  expect(parseInstant(typed)).toBeUndefined();
});

test("prints every parsed time to the microsecond", () => {
  const random = seeded(3);
  for (let i = 0; i < 500; i++) {
    const micros = Math.floor((random.real() - 0.2) * 4e15);
    expect(parseInstant(printInstant(micros))).toBe(micros);
  }
});

test("parses UUIDs in all usual forms", () => {
  const plain = "0f8fad5b-d9cb-469f-a165-70867728950e";
  for (const form of [
    plain,
    plain.toUpperCase(),
    plain.replaceAll("-", ""),
    `{${plain}}`,
    `urn:uuid:${plain}`,
    ` ${plain} `,
  ])
    expect(parseUuid(form)).toBe(plain);
  for (const form of ["", "x", plain.slice(1), `${plain}0`, plain.replace("0", "g")])
    expect(parseUuid(form)).toBeUndefined();
});

const name: Field = text("A name.", { blank: false, maxLength: 5 });

test.each([
  [" a ", { value: "a" }],
  [12, { value: "12" }],
  ["", { error: "This field may not be blank." }],
  ["  ", { error: "This field may not be blank." }],
  ["abcdef", { error: "Ensure this field has no more than 5 characters." }],
  [true, { error: "Not a valid string." }],
  [["a"], { error: "Not a valid string." }],
  ["a\0", { error: "Null characters are not allowed." }],
  ["\ud800", { error: "Unpaired surrogates are not allowed." }],
])("reads the text %p in a body", (value, decoded) => {
  expect(KINDS.text.decode(value, name)).toEqual(decoded);
});

test.each([
  [true, { value: 1 }],
  ["False", { value: 0 }],
  [1, { value: 1 }],
  ["maybe", { error: "Must be a valid boolean." }],
  [{}, { error: "Must be a valid boolean." }],
])("reads the flag %p in a body", (value, decoded) => {
  expect(KINDS.flag.decode(value, prose(""))).toEqual(decoded);
});

test.each([
  [12, { value: 12 }],
  ["-3", { value: -3 }],
  [1.5, { error: "A valid integer is required." }],
  ["", { error: "A valid integer is required." }],
  [1e30, { error: "A valid integer is required." }],
])("reads the integer %p in a body", (value, decoded) => {
  expect(KINDS.integer.decode(value, prose(""))).toEqual(decoded);
});

test("repeats client input only if it is short and plain", () => {
  expect(quoted("label")).toBe('"label"');
  for (const hostile of ["<script>", "a b", "x".repeat(61), "\u202e", ""])
    expect(quoted(hostile)).toBe("The given text");
});
