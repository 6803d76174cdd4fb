import { afterAll, setDefaultTimeout } from "bun:test";
import { tmpdir } from "node:os";

// The name of a Unix socket has at most 107 bytes, and Chromium, Redis, slapd and munge put theirs below folders of tests.
if (process.platform !== "win32" && tmpdir().length > 40) process.env.TMPDIR = "/tmp";

// A busy machine takes its time.
setDefaultTimeout(300_000);

/** The browser and the server of the browser tests are opened by the first that needs them, and closed here. */
afterAll(async () => {
  const { labdSite } = globalThis as { labdSite?: Promise<{ close(): Promise<void> }> };
  await (await labdSite)?.close();
});
