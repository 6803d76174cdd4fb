import { expect, test } from "bun:test";
import { Metrics } from "../../src/platform/metrics.ts";
import { timeQueries } from "../../src/platform/slow-query.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";

test("counters, gauges and histograms as Prometheus reads them", () => {
  const metrics = new Metrics();
  const count = metrics.counter("a_total", "Some.", ["x"]);
  count(['quo"te\\\n']);
  count(['quo"te\\\n'], 2);
  metrics.ask("gauge", "b", "Some\nlines.", () => 1.5);
  metrics.ask("gauge", "broken", "Cannot be read.", () => {
    throw new Error("no");
  });
  const observe = metrics.histogram("c", "Times.", ["y"], [1, 2]);
  for (const value of [0.5, 1, 1.5, 9]) observe(value, ["z"]);
  expect(metrics.text().split("\n")).toEqual([
    "# HELP a_total Some.",
    "# TYPE a_total counter",
    'a_total{x="quo\\"te\\\\\\n"} 3',
    "# HELP b Some\\nlines.",
    "# TYPE b gauge",
    "b 1.5",
    "# HELP broken Cannot be read.",
    "# TYPE broken gauge",
    "# HELP c Times.",
    "# TYPE c histogram",
    'c_bucket{y="z",le="1"} 2',
    'c_bucket{y="z",le="2"} 3',
    'c_bucket{y="z",le="+Inf"} 4',
    'c_sum{y="z"} 12',
    'c_count{y="z"} 4',
    "",
  ]);
});

test("slow statements are told of without their values; quick ones are counted", () => {
  const database = openDatabase(":memory:", []);
  const told: string[] = [];
  const time = timeQueries(database, 0, ({ sql }) => told.push(sql));
  database.run("CREATE TABLE t (a TEXT)");
  const insert = database.query("INSERT INTO t\n   VALUES (?)");
  database.transaction(() => insert.run("a secret"))();
  expect(database.query("SELECT a FROM t WHERE a = ?").get("a secret")).toEqual({ a: "a secret" });
  expect(database.query("SELECT a FROM t WHERE a = ?").all("b")).toEqual([]);
  expect(told).toEqual(
    ["CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES (?)"].concat(
      Array.from({ length: 2 }, () => "SELECT a FROM t WHERE a = ?"),
    ),
  );
  expect(time).toMatchObject({ statements: 4, slow: 4 });
  const other = openDatabase(":memory:", []);
  const patient = timeQueries(other, 3_600_000, ({ sql }) => told.push(sql));
  expect(() => other.query("SELECT * FROM nowhere")).toThrow("no such table");
  other.query("SELECT 1").get();
  expect([patient.statements, patient.slow, told.length]).toEqual([1, 0, 4]);
});
