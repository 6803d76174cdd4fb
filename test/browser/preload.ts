import { afterAll } from "bun:test";

/** The browser and the server of the browser tests are opened by the first that needs them, and closed here. */
afterAll(async () => {
  const { labdSite } = globalThis as { labdSite?: Promise<{ close(): Promise<void> }> };
  await (await labdSite)?.close();
});
