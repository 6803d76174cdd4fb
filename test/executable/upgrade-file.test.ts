import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileHash } from "../../src/platform/durable-file.ts";
import { LABD, scratch } from "./labd.ts";
import { CAN_HAVE_MACHINE, onMachine, UNLESS_MACHINE } from "./machine.ts";
import { freePort } from "../farm/redis-server.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(600_000);

/** `labd upgrade` of a service. Releases are scripts that call this build; systemctl is one that starts and stops it. */

const INSTALLED = "/usr/local/bin/labd";
const CONFIG = "/etc/labd/labd.toml";
const DATABASE = "/var/lib/labd/labd.sqlite";

/** Does one thing after the other, and waits, as systemd does for units with Type=notify. With a file /run/kill, it kills who wants to restart. */
const SYSTEMCTL = `#!/bin/sh
stop() {
  [ -e /run/labd.pid ] || return 0
  kill $(cat /run/labd.pid) 2>/dev/null
  while kill -0 $(cat /run/labd.pid) 2>/dev/null; do sleep 0.05; done
  rm /run/labd.pid
}
exec 9>/run/systemctl
case "$*" in
  "stop labd.service") flock 9; stop ;;
  "restart labd.service")
    [ -e /run/kill ] && rm /run/kill && kill -9 $PPID
    flock 9
    stop
    setsid ${INSTALLED} serve --config ${CONFIG} </dev/null >>/run/log 2>&1 9>&- &
    echo $! >/run/labd.pid
    until ${LABD} health --config ${CONFIG} >/dev/null 2>&1; do
      kill -0 $(cat /run/labd.pid) 2>/dev/null || { echo "Job for labd.service failed." >&2; exit 1; }
      sleep 0.05
    done ;;
esac
`;

interface Signer {
  key: KeyObject;
  /** As in a public key and signatures of minisign. */
  id: Buffer;
  publicKey: string;
}

function makeSigner(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const id = Buffer.from(crypto.getRandomValues(new Uint8Array(8)));
  const point = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  return { key: privateKey, id, publicKey: Buffer.concat([Buffer.from("Ed"), id, point]).toString("base64") };
}

/** Signs as `minisign -S -t COMMENT`. */
function signFile({ key, id }: Signer, path: string, comment = "a test"): void {
  const signature = sign(null, Buffer.from(fileHash(path, "blake2b512"), "hex"), key);
  const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key).toString("base64");
  const first = Buffer.concat([Buffer.from("ED"), id, signature]).toString("base64");
  writeFileSync(
    `${path}.minisig`,
    `untrusted comment: test\n${first}\ntrusted comment: ${comment}\n${global}\n`,
  );
}

/** A machine with a running service, and a way to make releases for it. */
async function openMachine() {
  const place = scratch();
  const root = place.directory;
  const run = onMachine(root, SYSTEMCTL);
  const signer = makeSigner();
  const [port, files] = [await freePort(), join(root, "files")];
  mkdirSync(files);
  expect(run(`${LABD} install --systemd --no-start`)).toMatchObject({ code: 0, stderr: "" });
  writeFileSync(
    join(root, "etc/labd/labd.toml"),
    `data_dir = "/var/lib/labd"\nport = ${port}\nworkers = 1\nlog = "problems"\n`,
  );
  expect(run(`${INSTALLED} user add ada --config ${CONFIG} && systemctl restart labd.service`).code).toBe(0);
  /** @param cases of a shell script, by the first word of its command line */
  const release = (version: string, cases: Record<string, string> = {}, by = signer): string => {
    const path = join(files, `labd-${version}`);
    const all = { "--version": `echo "labd ${version} (test)"`, install: "true", ...cases };
    const lines = Object.entries(all).map(([word, script]) => `${word}) ${script} ;;`);
    writeFileSync(path, `#!/bin/sh\ncase "$1" in\n${lines.join("\n")}\n*) exec ${LABD} "$@" ;;\nesac\n`);
    signFile(by, path);
    return path;
  };
  return {
    root,
    run,
    signer,
    release,
    upgrade: (file: string, flags = "--wait 60") =>
      run(`${INSTALLED} upgrade ${file} --key ${signer.publicKey} ${flags}`),
    version: () => run(`${INSTALLED} --version`).stdout.split(" ")[1],
    users: () => run(`${LABD} user list --json --config ${CONFIG}`).stdout,
    isReady: () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    [Symbol.dispose]() {
      run("systemctl stop labd.service");
      place[Symbol.dispose]();
    },
  };
}

/** What `labd upgrade` leaves beside the executable. */
const beside = (root: string): string[] => readdirSync(join(root, "local")).toSorted();

test.skipIf(!CAN_HAVE_MACHINE)(
  `installs a newer release after a backup, and --undo goes back${UNLESS_MACHINE}`,
  async () => {
    using machine = await openMachine();
    const { root, release, upgrade } = machine;
    const done = upgrade(release("99.0.0"));
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toContain("labd 99.0.0 (a test)");
    expect(done.stdout).toContain("ready    /usr/local/bin/labd");
    expect([machine.version(), await machine.isReady()]).toEqual(["99.0.0", true]);
    expect(readdirSync(join(root, "data/labd/backups")).length).toBeGreaterThanOrEqual(2);
    expect(readdirSync(join(root, "data/labd"))).not.toContain("upgrade-trial");
    expect(beside(root)).toEqual(["labd", "labd.former"]);
    expect(machine.run(`${INSTALLED}.former upgrade --undo --config ${CONFIG}`)).toMatchObject({
      code: 0,
      stderr: "",
      stdout: `put back /usr/local/bin/labd: labd ${machine.version()}, which is ready\n`,
    });
    expect([machine.version() === "99.0.0", await machine.isReady()]).toEqual([false, true]);
  },
);

test.skipIf(!CAN_HAVE_MACHINE)(
  `refuses old, forged, broken and unsigned releases, and changes nothing${UNLESS_MACHINE}`,
  async () => {
    using machine = await openMachine();
    const { root, release, upgrade } = machine;
    const before = fileHash(join(root, "local/labd"));
    const forged = release("99.0.1");
    appendFileSync(forged, "# changed\n");
    const recommented = release("99.0.2");
    writeFileSync(
      `${recommented}.minisig`,
      readFileSync(`${recommented}.minisig`, "utf8").replace("a test", "another"),
    );
    const unsigned = release("99.0.3");
    rmSync(`${unsigned}.minisig`);
    const noProgram = join(root, "files/text");
    writeFileSync(noProgram, "\u007fELF");
    signFile(machine.signer, noProgram);
    const cases: [string, number, string][] = [
      [release("0.1.9"), 65, "not newer than the installed"],
      [forged, 65, "the file is not the one that was signed"],
      [recommented, 65, "its trusted comment was changed"],
      [release("99.0.4", {}, makeSigner()), 65, "it was made with key"],
      [unsigned, 66, "There is no file"],
      [noProgram, 65, "does not run here"],
      [release("99.0.5", { "--version": "exit 3" }), 65, "--version ended with 3"],
      [release("99.0.6", { check: "echo one setting is gone >&2; exit 78" }), 65, "one setting is gone"],
      [release("99.0.7", { user: "echo migration failed >&2; exit 76" }), 65, "migration failed"],
    ];
    for (const [file, code, reason] of cases)
      expect([file, upgrade(file)]).toEqual([
        file,
        { code, stdout: expect.any(String), stderr: expect.stringContaining(reason) },
      ]);
    expect([fileHash(join(root, "local/labd")), beside(root)]).toEqual([before, ["labd"]]);
    expect(await machine.isReady()).toBeTrue();
    // A copy whose check was killed never gets the name that is installed.
    upgrade(release("99.0.8", { check: "kill -9 $PPID" }));
    expect(beside(root)).toEqual(["labd", "labd.next.unchecked"]);
    const keyless = machine.run(`${INSTALLED} upgrade ${forged} --key ''`);
    expect([keyless.code, keyless.stderr]).toEqual([
      64,
      expect.stringContaining("public key of the releases"),
    ]);
  },
);

/** Migrates as a newer version does, after a backup, and fails. A write in between must not be lost. */
const MIGRATING = `${LABD} user add grace --config ${CONFIG} && ${LABD} backup --config ${CONFIG} &&
  ${process.execPath} -e 'const { Database } = require("bun:sqlite"); new Database("${DATABASE}").run("INSERT INTO migration VALUES (\\"9999-later.sql\\", \\"x\\", 0)")' ; exit 70`;

test.skipIf(!CAN_HAVE_MACHINE)(
  `goes back if the new version does not become ready, also after a migration and a kill${UNLESS_MACHINE}`,
  async () => {
    using machine = await openMachine();
    const { root, release, upgrade } = machine;
    const before = machine.version();
    for (const [file, killed] of [
      [release("99.0.0", { serve: "exit 70" }), false],
      [release("99.0.1", { serve: MIGRATING }), false],
      [release("99.0.2", { serve: MIGRATING.replace("grace", "alan") }), true],
    ] as const) {
      if (killed) writeFileSync(join(root, "run/kill"), "");
      const { code, stderr } = upgrade(file);
      expect([file, code, stderr]).toEqual([
        file,
        65,
        expect.stringContaining(`labd ${before} is in place again`),
      ]);
      expect([machine.version(), await machine.isReady()]).toEqual([before, true]);
    }
    const database = new Database(join(root, "data/labd/labd.sqlite"), { readonly: true });
    expect(database.query("SELECT name FROM migration WHERE name LIKE '9999%'").all()).toEqual([]);
    database.close();
    expect(["ada", "grace", "alan"].map((name) => machine.users().includes(`"${name}"`))).toEqual([
      true,
      true,
      true,
    ]);
    expect(readdirSync(join(root, "data/labd")).filter((name) => name.includes(".before-")).length).toBe(2);
  },
);

const CAN_KILL = CAN_HAVE_MACHINE && Bun.which("strace") !== null;

test.skipIf(!CAN_KILL)(
  `kill -9 at each change of the disk leaves a working server${CAN_KILL ? "" : " (SKIPPED without strace)"}`,
  async () => {
    using machine = await openMachine();
    const { root, run, release } = machine;
    const [former, file] = [machine.version(), release("99.0.0")];
    const put = (from: string, name: string): void => {
      rmSync(join(root, "local", name), { force: true });
      copyFileSync(from, join(root, "local", name));
      chmodSync(join(root, "local", name), 0o755);
    };
    const finish = `${INSTALLED} upgrade --finish ${INSTALLED} --wait 60`;
    let kills = 0;
    for (const command of [
      `${INSTALLED} upgrade ${file} --wait 60 --key ${machine.signer.publicKey}`,
      finish,
    ]) {
      for (const change of ["rename", "link", "unlink", "fsync", "mkdir"]) {
        for (let count = 1, wasKilled = true; wasKilled; count++) {
          put(LABD, "labd");
          if (command === finish) put(file, "labd.next");
          const kill = `-e trace=${change} -e inject=${change}:signal=KILL:when=${count}`;
          const { code } = run(`exec strace -f -b execve -o /dev/null ${kill} ${command}`);
          const at = [command, change, count];
          wasKilled = code !== 0;
          // The process that replaces goes on where the killed one had started it.
          await waitFor(() => run("! pgrep -f [u]pgrade.--finish >/dev/null").code === 0);
          expect([at, await machine.isReady()]).toEqual([at, true]);
          expect([at, [former, "99.0.0"].includes(machine.version())]).toEqual([at, true]);
          if (!wasKilled) continue;
          kills++;
          // It is started again by the one that the administrator started.
          const again = command === finish ? finish : "systemctl restart labd.service";
          expect([at, run(again).code, await machine.isReady()]).toEqual([at, 0, true]);
        }
      }
    }
    expect(kills).toBeGreaterThan(15);
    console.log(`${kills} kills`);
  },
);
