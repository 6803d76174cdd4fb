import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileHash } from "../../src/platform/durable-file.ts";
import { buildImage } from "../../packaging/image.ts";
import { LABD, scratch } from "./labd.ts";
import { canRun, openPodman, type Podman } from "./podman.ts";
import { freePort } from "../farm/redis-server.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

/** The image: built twice, then run by podman as packaging/labd.container says. */

const TOOLS = ["buildah", "podman", "runc"].filter((name) => Bun.which(name) === null);
const SKIPPED = TOOLS.length > 0 ? ` (SKIPPED without ${TOOLS.join(", ")})` : "";
const ARCHITECTURE = process.arch === "arm64" ? "arm64" : "amd64";
const [IMAGE, MEGABYTES] = ["localhost/labd:1.0.0-7", 170];

const place = scratch();
let podman: Podman;
const paths: string[] = [];

beforeAll(async () => {
  if (SKIPPED !== "") return;
  podman = openPodman(place.directory);
  Object.assign(process.env, podman.env, { SOURCE_DATE_EPOCH: "1764340000" });
  for (const name of ["first", "second"]) {
    const out = join(place.directory, name);
    mkdirSync(out);
    paths.push(await buildImage(LABD, ARCHITECTURE, out, "1.0.0+7"));
  }
});
afterAll(() => {
  if (SKIPPED === "") podman.podman("rm", "--all", "--force");
  place[Symbol.dispose]();
});

test.skipIf(SKIPPED !== "")(`two builds are equal, small and not root${SKIPPED}`, () => {
  expect(fileHash(paths[0])).toBe(fileHash(paths[1]));
  expect(podman.podman("load", "--input", paths[0])).toMatchObject({
    code: 0,
    stdout: `Loaded image: ${IMAGE}\n`,
  });
  const [{ Size, Config }] = JSON.parse(podman.podman("inspect", IMAGE).stdout);
  expect(Size).toBeLessThan(MEGABYTES * 1e6);
  expect(Size).toBeGreaterThan(statSync(LABD).size);
  expect(Config.Labels["labd.libc"]).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect([Config.User, Config.Entrypoint, Config.Cmd]).toEqual(["10001:10001", ["/usr/bin/labd"], ["serve"]]);
});

/** The keys of the quadlet as flags of `podman run`; see podman-systemd.unit(5). */
const FLAGS: Record<string, (value: string) => string[]> = {
  ContainerName: (value) => ["--name", value],
  Volume: (value) => ["--volume", value],
  PublishPort: (value) => ["--publish", value],
  ReadOnly: () => ["--read-only"],
  DropCapability: (value) => ["--cap-drop", value],
  NoNewPrivileges: () => ["--security-opt", "no-new-privileges"],
  HealthCmd: (value) => ["--health-cmd", value],
  // Its timer needs systemd: the test runs the check.
  HealthInterval: () => ["--health-interval", "disable"],
  HealthTimeout: (value) => ["--health-timeout", value],
  HealthStartPeriod: (value) => ["--health-start-period", value],
  HealthRetries: (value) => ["--health-retries", value],
  HealthOnFailure: (value) => ["--health-on-failure", value],
};

function readQuadlet(): { sections: string[]; flags: string[]; image: string | undefined } {
  const lines = readFileSync("packaging/labd.container", "utf8")
    .split("\n")
    .filter((line) => /^[^#\s]/.test(line));
  const from = lines.indexOf("[Container]") + 1;
  const container = lines.slice(
    from,
    lines.findIndex((line, at) => at > from && line.startsWith("[")),
  );
  const pairs = container.map((line) => line.split(/=(.*)/s));
  return {
    sections: lines.filter((line) => line.startsWith("[")),
    image: pairs.find(([key]) => key === "Image")?.[1],
    flags: pairs.filter(([key]) => key !== "Image").flatMap(([key, value]) => FLAGS[key](value)),
  };
}

test.skipIf(SKIPPED !== "")(
  `podman runs, checks, backs up and upgrades it as the quadlet says${SKIPPED}`,
  async () => {
    if (!canRun(podman, IMAGE)) throw new Error("podman cannot run an image here.");
    const { sections, flags, image } = readQuadlet();
    expect([sections, image]).toEqual([
      ["[Unit]", "[Container]", "[Service]", "[Install]"],
      "localhost/labd:latest",
    ]);
    const port = String(await freePort());
    // Networks of containers need modules of the kernel that sandboxes lack.
    const words = flags.filter((word, at) => word !== "--publish" && flags[at - 1] !== "--publish");
    const start = (tag: string) =>
      podman.podman(
        "run",
        "--detach",
        ...words,
        "--network=host",
        "--env",
        `LABD_PORT=${port}`,
        "--env",
        "LABD_HOST=127.0.0.1",
        tag,
      );
    const inside = (...command: string[]) => podman.podman("exec", "labd", "labd", ...command);
    expect(start(IMAGE)).toMatchObject({ code: 0 });
    await waitFor(
      () => inside("health").stdout === "ready\n",
      () => podman.podman("logs", "labd").stderr,
    );
    expect(podman.podman("healthcheck", "run", "labd")).toMatchObject({ code: 0 });
    expect(inside("user", "add", "ada", "--admin").code).toBe(0);
    expect(inside("backup").stdout).toStartWith("/var/lib/labd/backups/labd-");
    expect(podman.podman("stop", "--time", "40", "labd").code).toBe(0);
    expect(podman.podman("rm", "labd").code).toBe(0);
    // The next version is another image with the same volume.
    expect(podman.podman("tag", IMAGE, "localhost/labd:next").code).toBe(0);
    expect(start("localhost/labd:next")).toMatchObject({ code: 0 });
    await waitFor(() => inside("health").code === 0);
    expect(inside("user", "list", "--json").stdout).toContain('"ada"');
    expect(inside("doctor").stdout).toContain("The server is ready");
    const [{ State }] = JSON.parse(podman.podman("inspect", "labd").stdout);
    expect(readFileSync(`/proc/${State.Pid}/status`, "utf8")).toMatch(/^Uid:\t10001\t/m);
    expect(podman.podman("exec", "labd", "labd", "upgrade", "x").stderr).toContain("/usr/bin");
  },
);

test.skipIf(Bun.which("docker-compose") === null)("docker-compose reads compose.yaml", () => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([
    "docker-compose",
    "-f",
    "packaging/compose.yaml",
    "config",
    "--services",
  ]);
  expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([0, "labd\n", ""]);
});
