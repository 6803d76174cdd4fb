import type { Answered } from "../../platform/http.ts";
import type { Metrics } from "../../platform/metrics.ts";

/** Upper ends in seconds of the buckets in which answers are counted. */
const LATENCIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Counts requests by route, method and status, and how long their answers took. */
export function observer(metrics: Metrics): (answered: Answered) => void {
  const count = metrics.counter("labd_http_requests_total", "Requests that were answered.", [
    "route",
    "method",
    "status",
  ]);
  const time = metrics.histogram(
    "labd_http_request_duration_seconds",
    "Time to the answer, of a stream to its beginning.",
    ["route"],
    LATENCIES,
  );
  return ({ route, method, status, seconds }) => {
    count([route, METHODS.has(method) ? method : "other", String(status)]);
    time(seconds, [route]);
  };
}
