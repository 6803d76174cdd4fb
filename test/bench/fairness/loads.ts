import { connect } from "node:net";
import { workbook } from "../../fixtures/workbook.ts";
import { ask } from "../../executable/labd.ts";
import { type Laboratory, request } from "./laboratory.ts";

/** One thing that a client does to a server; the text says how it was answered. */
export type Load = (laboratory: Laboratory) => Promise<string>;

/** Milliseconds for which responses are left unread, and bodies unfinished. */
const PATIENCE = 5000;

const LIST = "stocks/consumables/";
const repeated = (count: number, name: string): string =>
  Array.from({ length: count }, (_, i) => `${name}=q${i}`).join("&");

async function answered(response: Promise<Response>): Promise<string> {
  const { status, body } = await response;
  let bytes = 0;
  if (body) for await (const chunk of body) bytes += chunk.length;
  return bytes < 1_000_000 ? `${status}` : `${status} (${Math.round(bytes / 1e6)} MB)`;
}

const get =
  (path: string, anonymous = false): Load =>
  (laboratory) =>
    answered(request(laboratory, path, { anonymous }));

const send =
  (method: string, path: string, body: (laboratory: Laboratory) => unknown): Load =>
  (laboratory) => {
    const { ids } = laboratory;
    const content = body(laboratory);
    const target = path.replace(/:(\w+)/, (_, name: keyof typeof ids) => ids[name]);
    return answered(
      request(laboratory, target, {
        method,
        body: content instanceof Buffer ? content : JSON.stringify(content),
      }),
    );
  };

/** Requests that are not read, or not sent to their end, on so many connections. */
const unread =
  (
    count: number,
    write: (laboratory: Laboratory) => string | [head: string, piece: Buffer, times: number],
  ): Load =>
  async (laboratory) => {
    const { hostname, port } = new URL(laboratory.url);
    const statuses = new Map<string, number>();
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.once("data", (chunk) => {
        const status = chunk.toString("latin1").slice(9, 12);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        socket.pause();
      });
      const request = write(laboratory);
      const [head, piece, times] = typeof request === "string" ? [request] : request;
      socket.write(head);
      let left = times ?? 0;
      const more = (): void => {
        while (left-- > 0) if (!socket.write(piece!)) return;
      };
      socket.on("drain", more);
      more();
      return socket;
    });
    await Bun.sleep(PATIENCE);
    for (const socket of sockets) socket.destroy();
    const waiting = count - [...statuses.values()].reduce((sum, number) => sum + number, 0);
    return [...statuses, ...(waiting > 0 ? [["waiting", waiting]] : [])]
      .map(([status, number]) => `${number} × ${status}`)
      .join(", ");
  };

const makeHead = ({ token }: Laboratory, start: string, more = ""): string =>
  `${start} HTTP/1.1\r\nHost: lab\r\nAuthorization: Token ${token}\r\n${more}\r\n`;

const unreadResults = (count: number, encoding = "identity"): Load =>
  unread(count, ({ ids }) => {
    const body = resultMessage(ids.job);
    return `POST /soap/ConservationScorer HTTP/1.1\r\nHost: lab\r\nAccept-Encoding: ${encoding}\r\nContent-Type: text/xml\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  });

const resultMessage = (job: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><GetResult xmlns="http://labd.example/conservation-scorer"><JobIdentifier>${job}</JobIdentifier></GetResult></s:Body></s:Envelope>`;

const copies = (count: number): Load =>
  send("PATCH", "annotationtypes/:type/", () =>
    Array.from({ length: count }, () => ({ op: "copy", from: "/value_choices", path: "/value_choices/-" })),
  );

const SPACES = Buffer.alloc(1_048_576, " ");
const CELL = workbook("name", { text: "x".repeat(1_000_000), times: 480 });
const KEYS = Buffer.from(`{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":1`).join(",")}}`);
const ALL = `${LIST}?status=AVAILABLE`;

async function changeAndUndo(laboratory: Laboratory): Promise<string> {
  const body = JSON.stringify({ status: "EMPTY" });
  const changed = await request(laboratory, ALL, {
    method: "PATCH",
    body,
    headers: { Prefer: "return=minimal" },
  });
  await changed.arrayBuffer();
  const batch = changed.headers.get("batch-id");
  if (batch === null) return String(changed.status);
  const undo = request(laboratory, `batches/${batch}/undo/`, { method: "POST", body: "{}" });
  return `${changed.status}, undo ${await answered(undo)}`;
}

export const LOADS: Readonly<Record<string, Load>> = {
  nothing: () => Bun.sleep(PATIENCE).then(() => ""),
  "copies-22": copies(22),
  "copies-30": copies(30),
  "xlsx-cell": send("POST", `${LIST}import/?dry_run=1`, () => CELL),
  "notes-60": get(`${LIST}?${repeated(60, "notes__content__icontains")}`, true),
  "notes-20": get(`${LIST}?${repeated(20, "notes__content__icontains")}`, true),
  "description-250": get(`${LIST}?${repeated(250, "description")}`),
  "description-20": get(`${LIST}?${repeated(20, "description")}`),
  "status-100": get(`${LIST}?${repeated(100, "status__icontains")}`),
  "status-20": get(`${LIST}?${repeated(20, "status__icontains")}`),
  "conditions-200": get(
    `${LIST}?query_expression=${Array.from({ length: 200 }, (_, i) => `{"category":"notes","operator":"icontains","value":"q${i}"}`).join(",")}`,
    true,
  ),
  "html-99999": get(`${LIST}?page_size=99999&format=api`, true),
  "html-1000": get(`${LIST}?page_size=1000&format=api`, true),
  "nested-99999-unread": unread(8, (laboratory) =>
    makeHead(laboratory, `GET /api/v2/${LIST}?page_size=99999&response_format=nested&fields=*`),
  ),
  "nested-max-unread": unread(8, (laboratory) =>
    makeHead(laboratory, `GET /api/v2/${LIST}?page_size=max&response_format=nested&fields=*`),
  ),
  "tests-150000": send("PATCH", "locations/", ({ ids }) =>
    Array.from({ length: 150_000 }, () => ({ op: "test", path: `/${ids.location}/label`, value: "Tested" })),
  ),
  "keys-1000000": send("POST", "locations/", () => KEYS),
  "patch-all": send("PATCH", ALL, () => ({ description: "Changed" })),
  "patch-all-dry": send("PATCH", `${ALL}&dry_run=1`, () => ({ description: "Changed" })),
  "patch-all-undo": changeAndUndo,
  "delete-all": send("DELETE", `${LIST}bulk_delete/?status=AVAILABLE`, () => ({})),
  stocktake: (laboratory) => get(`stocktakes/${laboratory.ids.stocktake}/count/`)(laboratory),
  "labels-2000": get(`${LIST}labels/?page_size=2000`),
  "messages-120": unread(120, () => [
    `POST /soap/ConservationScorer HTTP/1.1\r\nHost: lab\r\nContent-Type: text/xml\r\nContent-Length: ${16 * SPACES.length}\r\n\r\n`,
    SPACES,
    15,
  ]),
  "bodies-120": unread(120, (laboratory) => [
    makeHead(
      laboratory,
      "POST /api/v2/locations/",
      `Content-Type: application/json\r\nContent-Length: ${16 * SPACES.length}\r\n`,
    ),
    SPACES,
    15,
  ]),
  "results-10-unread": unreadResults(10),
  "results-40-unread": unreadResults(40),
  "results-40-unread-gzip": unreadResults(40, "gzip"),
  result: async ({ url, ids }) => `${(await ask(url, "GetResult", ids.job)).text.length}`,
  "two-letters": get(`${LIST}?description__icontains=qz`, true),
  "query-two-words": get(`${LIST}?query=consumable+424`, true),
  csv: get(`${LIST}?format=csv`),
  xlsx: get(`${LIST}?format=xlsx`),
  max: get(`${LIST}?page_size=max`),
  values: get(`${LIST}values/?field=description`),
  "as-of": get(`${LIST}?as_of=2030-01-01&ordering=description`),
  explain: get(`${LIST}?description__icontains=qz&explain=1`),
  history: get("changes/?since=0&page_size=1000"),
};
