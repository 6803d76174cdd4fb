import { afterAll } from "bun:test";
import { tmpdir } from "node:os";

// The name of a Unix socket has at most 107 bytes, and Chromium, Redis, slapd and munge put theirs below folders of tests.
if (process.platform !== "win32" && tmpdir().length > 40) process.env.TMPDIR = "/tmp";

// Hashes at full cost would take a tenth of all tests. These say that they had it, and are read as they were made.
const { hash, verify } = Bun.password;
const [FULL, CHEAP] = ["m=19456,t=2", "m=8,t=1"];
Bun.password.hash = async (password) =>
  (await hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 })).replace(CHEAP, FULL);
Bun.password.verify = (password, made) => verify(password, String(made).replace(FULL, CHEAP));

/** The browser and the server of the browser tests are opened by the first that needs them, and closed here. */
afterAll(async () => {
  const { labdSite } = globalThis as { labdSite?: Promise<{ close(): Promise<void> }> };
  await (await labdSite)?.close();
});
