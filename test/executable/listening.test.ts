import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect } from "node:tls";
import { OPENSSL, selfSigned } from "./certificate.ts";
import { labd, LABD, scratch, serve } from "./labd.ts";
import { CAN_MOUNT, fill, smallDisk, UNLESS_MOUNTED } from "./small-disk.ts";
import { waitFor } from "../wait.ts";

/** Base path, Unix socket, and TLS whose certificate is renewed, in the executable. */

test("all links contain the base path; requests work with and without it", async () => {
  using data = scratch();
  await using server = await serve(data.directory, ["--public-url", "http://lab.example/lab/labd"]);
  const { url } = server;
  const outside = "http://lab.example";
  const read = async (path: string): Promise<string> => (await fetch(url + path)).text();
  expect((await fetch(`${url}/lab/labd`, { redirect: "manual" })).headers.get("location")).toBe("/lab/labd/");
  expect(await read("/healthz")).toBe(await read("/lab/labd/healthz"));
  expect((await fetch(`${url}/lab/labdhealthz`)).status).toBe(404);
  for (const prefix of ["", "/lab/labd"]) {
    for (const path of [
      "/",
      "/soap/ConservationScorer",
      "/api/v2/?format=api",
      "/api/v2/locations/?format=api",
    ]) {
      const page = await read(prefix + path);
      const addresses = [...page.matchAll(/\b(?:href|action)="([^"#?][^"]*)"/g)].map(
        ([, address]) => address,
      );
      const local = addresses.filter((address) => !address.startsWith("http") || address.startsWith(outside));
      expect(local.length).toBeGreaterThan(0);
      expect(local.filter((address) => !address.replace(outside, "").startsWith("/lab/labd/"))).toEqual([]);
    }
  }
  expect(await read("/lab/labd/soap/ConservationScorer?wsdl")).toContain(
    `location="${outside}/lab/labd/soap/ConservationScorer"`,
  );
  expect(JSON.parse(await read("/lab/labd/docs/json")).servers).toEqual([{ url: `${outside}/lab/labd` }]);
  expect(await read("/lab/labd/docs")).not.toMatch(/(src|href)="\/(?!lab\/labd\/)/);
  const { locations } = JSON.parse(await read("/lab/labd/api/v2/"));
  expect(locations).toBe(`${outside}/lab/labd/api/v2/locations/`);
});

test.skipIf(process.platform === "win32")(
  "a Unix socket has mode 0660, replaces a stale one, and excludes a second server",
  async () => {
    using data = scratch();
    const path = join(data.directory, "labd.sock");
    const start = async (): Promise<Bun.Subprocess> => {
      const run = Bun.spawn(
        [LABD, "serve", "--data-dir", join(data.directory, "data"), "--host", `unix:${path}`],
        { stdin: "ignore", stdout: "ignore", stderr: "pipe", env: { PATH: "" } },
      );
      let said = "";
      for await (const chunk of run.stderr) {
        said += new TextDecoder().decode(chunk);
        if (said.includes("/setup?key=")) break;
      }
      expect(said).toContain("serves unix:");
      expect(said).toMatch(/\/setup\?key=\S+ at the reverse proxy.s address/);
      return run;
    };
    const ask = async (): Promise<string> =>
      JSON.parse(await (await fetch("http://lab.example/api/v2/", { unix: path })).text()).locations;
    const first = await start();
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(await ask()).toBe("http://lab.example/api/v2/locations/");
    const other = join(data.directory, "other");
    const second = await labd(["serve", "--data-dir", other, "--host", `unix:${path}`]);
    expect(second).toMatchObject({
      code: 75,
      stderr: expect.stringContaining("another process listens there"),
    });
    first.kill("SIGKILL");
    await first.exited;
    const third = await start();
    expect(await ask()).toBe("http://lab.example/api/v2/locations/");
    third.kill("SIGTERM");
    expect(await third.exited).toBe(0);
    expect(existsSync(path)).toBeFalse();
  },
);

const PYTHON = Bun.which("python3");
/** Prints every datagram that arrives at the socket, as systemd would receive it. */
const RECEIVER = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1].replace("@", "\\0"))
print("bound", flush=True)
while True: print(receiver.recv(4096).decode(), flush=True)
`;

for (const kind of ["path", "abstract"])
  test.skipIf(PYTHON === null || process.platform !== "linux")(
    `tells systemd that it is ready and that it stops, at a socket with ${kind} address (SKIPPED without Python)`,
    async () => {
      using data = scratch();
      const socket = kind === "path" ? join(data.directory, "notify") : `@labd-${data.directory}`;
      const receiver = spawn(PYTHON!, ["-c", RECEIVER, socket]);
      const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
      try {
        expect((await lines.next()).value).toBe("bound");
        await using server = await serve(data.directory, [], { NOTIFY_SOCKET: socket });
        expect((await lines.next()).value).toBe("READY=1");
        expect((await lines.next()).value).toBe("STATUS=Ready");
        expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({ status: "ready" });
        server.process.kill("SIGTERM");
        expect((await lines.next()).value).toBe("STOPPING=1");
        expect(await server.process.exited).toBe(0);
      } finally {
        receiver.kill();
      }
    },
  );

test.skipIf(PYTHON === null || !CAN_MOUNT)(
  `tells systemd why it is not ready, and once it is${UNLESS_MOUNTED}`,
  async () => {
    using place = scratch();
    using disk = smallDisk(place.directory, 64)!;
    const [data, ballast] = ["data", "ballast"].map((name) => join(disk.directory, name));
    await labd(["user", "add", "kim", "--data-dir", data]);
    fill(ballast);
    truncateSync(ballast, statSync(ballast).size - 500_000);
    const socket = join(place.directory, "notify");
    const receiver = spawn(PYTHON!, ["-c", RECEIVER, socket]);
    const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
    try {
      expect((await lines.next()).value).toBe("bound");
      await using server = await serve(place.directory, ["--data-dir", data], { NOTIFY_SOCKET: socket });
      expect((await lines.next()).value).toStartWith("STATUS=Not ready: The data disk is full");
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
      rmSync(ballast);
      expect((await lines.next()).value).toBe("READY=1");
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    } finally {
      receiver.kill();
    }
  },
);

test.skipIf(PYTHON === null || process.platform !== "linux")(
  "tells systemd's watchdog that it runs while its main thread answers",
  async () => {
    using data = scratch();
    const socket = join(data.directory, "notify");
    const receiver = spawn(PYTHON!, ["-c", RECEIVER, socket]);
    const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
    try {
      expect((await lines.next()).value).toBe("bound");
      const environment = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "200000" };
      await using server = await serve(data.directory, [], environment);
      const heard: string[] = [];
      while (heard.filter((line) => line === "WATCHDOG=1").length < 3)
        heard.push(String((await lines.next()).value));
      expect(heard.slice(0, 2)).toEqual(["READY=1", "STATUS=Ready"]);
      server.process.kill("SIGSTOP");
      const silence = lines.next();
      expect(await Promise.race([silence, Bun.sleep(1000).then(() => "silent")])).toBe("silent");
      server.process.kill("SIGCONT");
      expect((await silence).value).toBe("WATCHDOG=1");
    } finally {
      receiver.kill();
    }
  },
);

test("logs that a systemd socket does not respond, and keeps serving", async () => {
  using data = scratch();
  await using server = await serve(data.directory, [], { NOTIFY_SOCKET: join(data.directory, "none") });
  await waitFor(() => process.platform !== "linux" || server.log().includes("systemd not notified"));
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

test.skipIf(OPENSSL === null || process.platform === "win32")(
  "SIGHUP loads a renewed certificate, keeps the current one if the new one is invalid, and drops no request",
  async () => {
    using data = scratch();
    const [certificate, key] = ["lab.crt", "lab.key"].map((name) => join(data.directory, name));
    for (const name of ["old", "new"]) {
      const [of, by] = ["crt", "key"].map((kind) => join(data.directory, `${name}.${kind}`));
      selfSigned({ certificate: of, key: by }, name, 2);
    }
    const use = (name: string): void => {
      copyFileSync(join(data.directory, `${name}.crt`), certificate);
      copyFileSync(join(data.directory, `${name}.key`), key);
    };
    use("old");
    await using server = await serve(data.directory, ["--tls-certificate", certificate, "--tls-key", key]);
    const port = Number(new URL(server.url).port);
    const shown = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
          resolve(String(socket.getPeerCertificate().subject.CN));
          socket.end();
        });
        socket.on("error", reject);
      });
    const until = async (text: string, count: number): Promise<void> => {
      await waitFor(() => server.log().split(text).length > count);
    };
    expect(server.url).toStartWith("https:");
    expect(await shown()).toBe("old");
    const list = await fetch(`${server.url}/api/v2/`, { tls: { rejectUnauthorized: false } });
    expect(await list.json()).toMatchObject({ locations: `${server.url}/api/v2/locations/` });
    expect(list.headers.get("strict-transport-security")).toBe("max-age=31536000");
    // A message that is half sent when the certificate changes.
    const slow = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
    let answer = "";
    slow.on("data", (chunk: Buffer) => (answer += String(chunk)));
    const body = "<nonsense/>";
    const head = `POST /soap/ConservationScorer HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: ${body.length}\r\n\r\n`;
    await new Promise<void>((resolve) => slow.write(head + body.slice(0, 3), () => resolve()));
    await Bun.sleep(200);
    use("new");
    server.process.kill("SIGHUP");
    await until("certificate reloaded", 1);
    expect(await shown()).toBe("new");
    slow.write(body.slice(3));
    await waitFor(() => answer.includes("Envelope>"));
    expect(answer).toStartWith("HTTP/1.1 500");
    slow.destroy();
    writeFileSync(key, "nonsense");
    server.process.kill("SIGHUP");
    await until("certificate not reloaded", 1);
    expect(await shown()).toBe("new");
    expect(await server.end("SIGTERM")).toBe(0);
  },
);
