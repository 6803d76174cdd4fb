import type { Page } from "puppeteer-core";
import { named, type Opened, openPage, press, seeText, site } from "./browser.ts";

/** Devices that lose the network. */

export interface Connection extends Disposable {
  url: string;
  /** Without a connection, the proxy says so, and the browser has no network. */
  set(connected: boolean, page?: Page): Promise<void>;
  /** The server gets all requests, and its answers are lost, until the connection is set. */
  loseAnswers(): void;
}

/** A proxy before the server, which can lose it: Chromium cannot cut off a service worker alone. */
export async function openConnection(): Promise<Connection> {
  const { url: target } = await site();
  let connected = true;
  let areLost = false;
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch({ url, method, headers, body }) {
      const lost = () => new Response("No connection", { status: 502 });
      if (!connected) return lost();
      const { pathname, search } = new URL(url);
      const answer = await fetch(target + pathname + search, {
        method,
        headers,
        body,
        redirect: "manual",
        decompress: false,
      });
      return areLost ? lost() : answer;
    },
  });
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    async set(value, page) {
      connected = value;
      areLost = false;
      await page?.setOfflineMode(!value);
    },
    loseAnswers: () => (areLost = true),
    [Symbol.dispose]: () => void proxy.stop(true),
  };
}

/** Signs in and keeps what scanning needs on the device. */
export async function openReady(server: string): Promise<Opened> {
  const opened = await openPage("/inventory/offline", { signedIn: true, width: 360, server });
  await press(opened.page, "button", "Turn on");
  await seeText(opened.page, "Ready. Knows");
  return opened;
}

/** The page for scanning without a network, ready to move what is scanned. */
export async function openMoving(connection: Connection): Promise<Opened> {
  const opened = await openReady(connection.url);
  const { page, url } = opened;
  await connection.set(false, page);
  await page.goto(`${url}/inventory/scan`);
  await (await named(page, "checkbox", "Move the scanned records")).click();
  await page.focus("input[type=text]");
  return opened;
}

/** Sends JSON as the administrator from the page, with the proof that the pages send. */
export const write = (
  page: Page,
  method: string,
  path: string,
  body?: object,
): Promise<{ results: unknown }> =>
  page.evaluate(
    async (method, path, body) => {
      const session = (await (await fetch("/api/v2/session/")).json()) as { csrf_token: string };
      const headers = { "Content-Type": "application/json", "X-CSRFToken": session.csrf_token };
      return (await fetch(path, { method, headers, body })).json();
    },
    method,
    path,
    JSON.stringify(body),
  );

/** The newest batch, up to which `undoSince` undoes. */
export async function findLastBatch(page: Page): Promise<string> {
  const { results } = await write(page, "GET", "/api/v2/batches/?page_size=1");
  return (results as { id: string }[])[0].id;
}

/** Undoes every batch since one, newest first: other tests expect the sample as it was. */
export async function undoSince(page: Page, last: string): Promise<void> {
  const { results } = await write(page, "GET", "/api/v2/batches/?page_size=20");
  for (const { id, undoes, undone_by } of results as Record<string, string | null>[]) {
    if (id === last) return;
    // An undo and its batch already cancel out.
    if (undoes === null && undone_by === null) await write(page, "POST", `/api/v2/batches/${id}/undo/`, {});
  }
}
