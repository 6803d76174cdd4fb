import createFetchClient, { type Client } from "openapi-fetch";
import { ConnectionFailed, NotFound } from "./errors.ts";
import { openRecordTypes, type RecordTypes, VERSION } from "./generated.ts";
import type { paths as AdministrationPaths } from "./administration.d.ts";
import type { paths as InventoryPaths } from "./inventory.d.ts";
import type { paths as ScoringPaths } from "./scoring.d.ts";
import type { ProgressOption } from "./progress.ts";
import {
  type MatchFilters,
  type Motifs,
  type Protein,
  type Result,
  type ScoreOptions,
  Scoring,
} from "./scoring-client.ts";
import { Sender } from "./send.ts";
import { type Found, type RunningOut, Stock, type StockRecord } from "./stock.ts";

export * from "./errors.ts";
export type * from "./generated.ts";
export { VERSION } from "./generated.ts";
export type { ImportReport, ListOptions, Records, Reference } from "./records.ts";
export type {
  Found,
  MatchFilters,
  Motifs,
  ProgressOption,
  Protein,
  Result,
  RunningOut,
  ScoreOptions,
  StockRecord,
};
export type { Parameters, RequestOptions, Value } from "./send.ts";

/** Options of a connection. */
export interface ConnectOptions {
  /** Address such as `http://server:8480`; by default the environment variable LABD_URL, or the page's own server. */
  url?: string;
  /** API token; by default LABD_TOKEN. Without one you may score, and read public records. */
  token?: string;
  progress?: ProgressOption;
  /** Further attempts after lost connections and when the server is busy: 5. Changes are made once. */
  retries?: number;
}

/** Everything of the API by method and path, with types, through openapi-fetch; `other_filters` has filters with lookups. */
export interface TypedClients {
  inventory: Client<InventoryPaths, "application/json">;
  scoring: Client<ScoringPaths, "application/json">;
  administration: Client<AdministrationPaths, "application/json">;
}

/** A connection to a labd server: scoring, stock, and a member for each list of records. */
export type Lab = Pick<Scoring, "score" | "scan" | "proteome" | "batch" | "proteins"> &
  Pick<
    Stock,
    "find" | "search" | "consume" | "refill" | "aliquots" | "thaw" | "takeOut" | "putBack" | "runningOut"
  > &
  Pick<Sender, "request" | "url"> &
  RecordTypes & { api: TypedClients };

/**
 * Connects to a server, and checks address and token.
 * @throws ConnectionFailed, NotAuthenticated
 */
export async function connect(options: ConnectOptions = {}): Promise<Lab> {
  const { process, location } = globalThis as {
    process?: { env: Record<string, string | undefined> };
    location?: { origin: string };
  };
  const url = options.url ?? process?.env.LABD_URL ?? location?.origin;
  if (!url)
    throw new TypeError(
      'Give the address of the server, such as { url: "http://server:8480" }, or set LABD_URL.',
    );
  const sender = new Sender(
    url,
    options.token ?? process?.env.LABD_TOKEN ?? "",
    options.retries ?? 5,
    options.progress,
  );
  try {
    await sender.json("GET", "/api/v2/version/");
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    throw new ConnectionFailed(
      `There is no labd server at ${sender.url}. Give its address, such as http://server:8480.`,
    );
  }
  await checkVersion(sender);
  const scoring = new Scoring(sender);
  const stock = new Stock(sender);
  return {
    ...openRecordTypes(sender),
    url: sender.url,
    api: openTypedClients(sender),
    request: (...call) => sender.request(...call),
    score: (...call) => scoring.score(...call),
    scan: (...call) => scoring.scan(...call),
    proteome: (...call) => scoring.proteome(...call),
    batch: (...call) => scoring.batch(...call),
    proteins: (...call) => scoring.proteins(...call),
    find: (...call) => stock.find(...call),
    search: (...call) => stock.search(...call),
    consume: (...call) => stock.consume(...call),
    refill: (...call) => stock.refill(...call),
    aliquots: (...call) => stock.aliquots(...call),
    thaw: (...call) => stock.thaw(...call),
    takeOut: (...call) => stock.takeOut(...call),
    putBack: (...call) => stock.putBack(...call),
    runningOut: () => stock.runningOut(),
  };
}

/** Warns if the server has another version, whose client is then at its /clients/. */
async function checkVersion(sender: Sender): Promise<void> {
  const { version } = await sender
    .json<{ version?: string }>("GET", "/clients/")
    .catch(() => ({ version: undefined }));
  if (version === undefined || version === VERSION) return;
  // oxlint-disable-next-line no-console -- a program has no other place for a warning.
  console.warn(
    `This is the client of labd ${VERSION}, and the server has ${version}: install the one at ${sender.url}/clients/.`,
  );
}

function openTypedClients(sender: Sender): TypedClients {
  const options = {
    baseUrl: sender.url,
    fetch: (request: Request) => sender.send(request),
    // `other_filters` is an object whose members become parameters.
    querySerializer: { object: { style: "form", explode: true } } as const,
  };
  return {
    inventory: createFetchClient<InventoryPaths, "application/json">(options),
    scoring: createFetchClient<ScoringPaths, "application/json">(options),
    administration: createFetchClient<AdministrationPaths, "application/json">(options),
  };
}
