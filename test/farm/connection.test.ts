import { expect, test } from "bun:test";
import { join } from "node:path";
import { causeOf, connectionOptions, redactedAddress } from "../../src/farm/connection.ts";

const options = (url: string, ca = "") => connectionOptions({ url, ca });

test.each([
  ["redis://queue", { host: "queue", port: 6379, db: 0 }, "redis://queue"],
  [
    "redis://labd:p%40ss@10.1.0.5:6380/3",
    { host: "10.1.0.5", port: 6380, username: "labd", password: "p@ss", db: 3 },
    "redis://10.1.0.5:6380/3",
  ],
  [
    "rediss://:secret@[fd00::5]",
    { host: "fd00::5", port: 6379, password: "secret", db: 0, tls: {} },
    "rediss://[fd00::5]",
  ],
  ["unix:/run/redis.sock", { path: "/run/redis.sock", db: 0 }, "unix:/run/redis.sock"],
  [
    "unix://labd:secret@/run/redis.sock?db=2",
    { path: "/run/redis.sock", username: "labd", password: "secret", db: 2 },
    "unix:/run/redis.sock?db=2",
  ],
])("%s", (url, expected, shown) => {
  expect(options(url) as unknown).toEqual(expected);
  expect(redactedAddress(url)).toBe(shown);
});

test("an address that is none is refused without being shown, a file of certificates by its name", () => {
  for (const url of ["redis://:secret@", "redis://:secret@host/two", "redis://:secret@host:port"])
    expect(() => options(url)).toThrow(
      expect.objectContaining({
        code: "invalid_setting",
        message: expect.not.stringContaining("secret"),
      }),
    );
  const missing = join(import.meta.dir, "missing.pem");
  expect(() => options("rediss://host", missing)).toThrow(`ca_file: ${missing} cannot be read.`);
  const own = options("rediss://host", import.meta.path).tls as { ca: string[] };
  expect(own.ca[0]).toContain("of certificates by its name");
});

test("the causes of several attempts are told once each", () => {
  const error = new AggregateError([new Error("refused."), new Error("refused."), new Error("no route.")]);
  expect(causeOf(error)).toBe("refused.; no route");
  expect(causeOf("odd")).toBe("odd");
});
