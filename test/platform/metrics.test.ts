import { expect, test } from "bun:test";
import { Metrics } from "../../src/platform/metrics.ts";

test("prints counters, gauges and histograms in the format of Prometheus", () => {
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
