import { pick } from "../../scoring/contract/random-message.ts";
import { type Lane, recordOutcome, send } from "./lane.ts";

export const METRICS_TOKEN = "metrics-of-the-soak-test";

const READS = [
  "/api/v2/",
  "/api/v2/locations/",
  "/api/v2/locations/?page=2&page_size=20&ordering=-label",
  "/api/v2/locations/?query=soak",
  "/api/v2/locations/?label__startswith=soak-1&fields=id,label,version",
  "/api/v2/locations/?description=text+1&response_format=flat",
  "/api/v2/locations/?deleted=true&page_size=10",
  '/api/v2/locations/?query_expression={"category":"label","operator":"icontains","value":"soak"}&page_size=5',
  "/api/v2/locations/values/?field=label",
  "/api/v2/locations/tree/",
  "/api/v2/changes/?since=0",
  "/api/v2/batches/",
  "/api/v2/users/",
  "/api/v2/tokens/",
  "/api/v2/version/",
  "/api/scoring/motif-classes?query=cyclin",
  "/api/scoring/corpus",
  "/healthz",
  "/readyz",
  "/metrics",
  "/soap/ConservationScorer?wsdl",
  "/",
  "/score",
  "/inventory/locations",
];
/** Rare, because they return everything. */
const EXPORTS = [
  "/docs/json",
  "/api/v2/locations/?format=csv&label__startswith=soak-1-r0",
  "/api/v2/locations/?format=xlsx&label__startswith=soak-1-r0-0000",
  "/api/v2/locations/?page_size=max&fields=id,label&label__startswith=soak-1-r0",
];

export async function readPages(lane: Lane): Promise<void> {
  const { next } = lane;
  while (!lane.stopped()) {
    const isExport = next() < 0.01;
    const path = pick(next, isExport ? EXPORTS : READS);
    const headers = {
      ...(next() < 0.2 ? { Accept: "text/html, */*" } : {}),
      ...(path === "/metrics" ? { Authorization: `Bearer ${METRICS_TOKEN}` } : {}),
    };
    const reply = await send(lane, "GET", path, undefined, headers);
    // 404: the second page may not exist yet.
    recordOutcome(lane, isExport ? "export" : `read ${path.slice(0, 40)}`, reply, [200, 404]);
    await Bun.sleep(next() * 6);
  }
}
