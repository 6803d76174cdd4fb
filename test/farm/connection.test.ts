import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeCause, connectionOptions, redactedAddress } from "../../src/farm/connection.ts";
import { decodeResult, encodeResult, queueName } from "../../src/farm/redis-records.ts";
import { mixedFarm, type RedisInfo, unsupportedReason } from "../../src/farm/status.ts";

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
])("%s", (url, options, shown) => {
  expect(connectionOptions({ url, ca: "" }) as unknown).toEqual(options);
  expect(redactedAddress(url)).toBe(shown);
});

test.each(["redis://:secret@", "redis://:secret@host/two", "redis://:secret@host:port"])(
  "rejects %s without showing the password",
  (url) =>
    expect(() => connectionOptions({ url, ca: "" })).toThrow(
      expect.objectContaining({ code: "invalid_setting", message: expect.not.stringContaining("secret") }),
    ),
);

test("reads CA certificates from a file", () => {
  const ca = join(import.meta.dir, "missing.pem");
  expect(() => connectionOptions({ url: "rediss://host", ca })).toThrow(`ca_file: ${ca} cannot be read.`);
  const { tls } = connectionOptions({ url: "rediss://host", ca: import.meta.path }) as {
    tls: { ca: string[] };
  };
  expect(tls.ca[0]).toContain("reads CA certificates");
});

test("lists the distinct causes of several attempts", () => {
  const error = new AggregateError([new Error("refused."), new Error("refused."), new Error("no route.")]);
  expect([describeCause(error), describeCause("odd")]).toEqual(["refused.; no route", "odd"]);
});

test.each([
  [{}, null],
  [{ mode: "sentinel" }, "Sentinel"],
  [{ mode: "cluster" }, "Cluster"],
  [{ isReplica: true }, "replica"],
])("reports whether a Redis with %p is unsupported: %p", (info, reason) => {
  const found = unsupportedReason({ mode: "standalone", isReplica: false, ...info } as RedisInfo);
  if (reason === null) expect(found).toBeNull();
  else expect(found).toContain(reason);
});

test("explains why workers are incompatible with the server", () => {
  const server = { queue: "q", version: "1.0.0", commit: "abc" };
  const worker = { name: "w", host: "h", refusal: null, queue: "q", draining: false, commit: "abc" };
  const mixed = (difference: object): string =>
    mixedFarm(server, [{ ...worker, ...difference } as never]).join();
  expect(mixed({})).toBe("");
  expect(mixed({ refusal: "It is verifying c." })).toBe("w on h accepts no jobs. It is verifying c.");
  expect(mixed({ queue: "other" })).toContain("another corpus");
  expect(mixed({ queue: "other", draining: true })).toBe("");
  expect(mixed({ commit: "def" })).toContain("built from def, the server from abc");
});

test("rejects damaged results, and separates queues by version and corpus", () => {
  const result = { worker: "w", attempts: 2, packed: new Uint8Array([1, 10, 2]) };
  const bytes = encodeResult(result);
  expect(decodeResult(bytes)).toEqual(result);
  for (const damaged of [bytes.with(bytes.length - 1, 3), Buffer.from("text"), Buffer.from("")])
    expect(decodeResult(Buffer.from(damaged))).toBeNull();
  const kind = { version: "1", scoringVersion: { method: "m", corpus: "c" } };
  expect(queueName(kind)).toMatch(/^jobs-[0-9a-f]{16}$/);
  const others = [
    { ...kind, version: "2" },
    { ...kind, scoringVersion: { method: "n", corpus: "c" } },
    { ...kind, scoringVersion: { method: "m", corpus: "d" } },
  ];
  expect(new Set([kind, ...others].map(queueName)).size).toBe(4);
});
