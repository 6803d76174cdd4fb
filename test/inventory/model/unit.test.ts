import { expect, test } from "bun:test";
import {
  addAmounts,
  convertAmount,
  convertibleUnits,
  findUnit,
  formatAmount,
  isConvertible,
  UNITS,
} from "../../../src/inventory/model/unit.ts";

test.each([
  ["ul", "µL"],
  ["\u00b5l", "µL"],
  ["\u03bcl", "µL"],
  ["µL", "µL"],
  ["uL", "µL"],
  ["UL", "µL"],
  ["µL.", "µL"],
  ["microliter", "µL"],
  ["Microlitres", "µL"],
  ["ML", "mL"],
  ["l", "L"],
  ["mg", "mg"],
  ["µg", "µg"],
  ["mM", "mM"],
  ["uM", "µM"],
  ["umol/L", "µM"],
  ["micromolar", "µM"],
  ["mm", "mm"],
  ["ng / ul", "ng/µL"],
  ["microgram per milliliter", "µg/mL"],
  ["units per microliter", "U/µL"],
  ["pcs", "piece"],
  ["rxns", "reaction"],
  ["10", undefined],
  // Millimetre or millimolar.
  ["MM", undefined],
  ["tubes of Bob", undefined],
])("reads %p as %p", (text, symbol) => {
  expect(findUnit(text)?.symbol).toBe(symbol);
});

test("has symbols, names and codes that each mean one unit", () => {
  for (const unit of UNITS)
    for (const text of [unit.symbol, unit.name, unit.ucum])
      expect([text, findUnit(text)]).toEqual([text, unit]);
  for (const key of ["symbol", "name", "ucum"] as const)
    expect(new Set(UNITS.map((unit) => unit[key])).size).toBe(UNITS.length);
});

test.each([
  [0.5, "mL", "µL", 500],
  [1, "L", "nL", 1e9],
  [0.1, "µg", "mg", 0.0001],
  [3, "g/L", "µg/µL", 3],
  [5, "nmol/mL", "µM", 5],
  [90, "min", "h", 1.5],
  [10, "min", "h", 1 / 6],
  [1, "d", "s", 86_400],
  [1e-21, "L", "mL", 1e-18],
  [1, "mL", "mg", undefined],
  [4, "°C", "K", undefined],
  [2, "tubes of Bob", "tubes of Bob", 2],
  [2, "tubes of Bob", "mL", undefined],
])("converts %p %s into %s", (value, unit, target, expected) => {
  expect(convertAmount({ value, unit }, target)).toBe(expected);
});

test("adds decimals exactly", () => {
  const tenths = Array.from({ length: 10 }, () => ({ value: 0.1, unit: "mL" }));
  expect(addAmounts(tenths, "mL")).toBe(1);
  expect(
    addAmounts(
      [
        { value: 0.3, unit: "mL" },
        { value: -100, unit: "ul" },
      ],
      "mL",
    ),
  ).toBe(0.2);
  expect(addAmounts([], "mL")).toBe(0);
  // An independent oracle: whole nanolitres.
  const parts = Array.from({ length: 500 }, (_, i) => i * 7919 + 1);
  const units = ["nL", "µL", "mL", "L"];
  const amounts = parts.map((nanolitres, i) => {
    const thousands = i % 4;
    return { value: Number(`${nanolitres}e-${thousands * 3}`), unit: units[thousands] };
  });
  expect(addAmounts(amounts, "nL")).toBe(parts.reduce((sum, part) => sum + part, 0));
});

test.each([
  [0.0005, "L", "500 µL"],
  [1500, "ul", "1.5 mL"],
  [50, "µL", "50 µL"],
  [0.1, "nL", "0.1 nL"],
  [0, "mL", "0 mL"],
  [0.02, "M", "20 mM"],
  [0.5, "mg/mL", "0.5 mg/mL"],
  [0.5, "tubes", "0.5 tubes"],
  [1, "tubes", "1 tube"],
  [2, "viral genomes per milliliter", "2 viral genomes/mL"],
  [4, "degree Celsius", "4 °C"],
  [3, "racks", "3 racks"],
  [3, "", "3"],
])("shows %p %s as %s", (value, unit, text) => {
  expect(formatAmount({ value, unit })).toBe(text);
});

test("names the units that an amount converts into", () => {
  expect(convertibleUnits("ul")).toEqual(["µL", "L", "mL", "nL"]);
  expect(convertibleUnits("racks")).toEqual(["racks"]);
  expect([isConvertible("ul", "L"), isConvertible("ul", "mg")]).toEqual([true, false]);
});
