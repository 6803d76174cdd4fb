/**
 * Processor time per request of lists, records and writes over HTTP on a large database, with varied requests.
 *
 *   bun run build.ts && bun run test/bench/rest.bench.ts   100,000 annotation types and as many locations, 50 users
 *   LABD=dist/labd,old/labd …   executables to compare; the first one is measured against all others
 *   RECORDS=5000 SECONDS=0.2 KINDS=query …   quick; kinds whose name contains the text
 *   WALL=1 KINDS=create …   wall-clock time of eight clients together
 *   PEER=0 …   without the peer, which annotations are measured without in any case
 *
 * The peer is Django REST framework on the same records (rest/peer.py; Debian: python3-django,
 * python3-djangorestframework, python3-django-filters, gunicorn). Requests are random (rest/requests.ts), by an
 * administrator and an ordinary user, without writes, with one write in fifty requests, and with one in ten. Responses
 * are compared before measuring. Rounds alternate between the services. See docs/performance.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, readMemory, say } from "./harness.ts";
import { startLabd } from "./rest/labd.ts";
import { startPeer } from "./rest/peer.ts";
import { creation, type Kind, KINDS, seeded, type Write, writeBeside } from "./rest/requests.ts";
import {
  type Page,
  processorTimes,
  processorTimeSince,
  send,
  type Service,
  readValue,
} from "./rest/service.ts";

const RECORDS = Number(process.env.RECORDS ?? 100_000);
const EXECUTABLES = (process.env.LABD ?? "dist/labd").split(",");
const SECONDS = Number(process.env.SECONDS ?? 1);
const WANTED = process.env.KINDS ?? "";
const ROUNDS = Number(process.env.ROUNDS ?? 3);
/** Concurrent requests. */
const CLIENTS = 8;
/** Requests for each write; 0 means no writes. */
const WRITES = (process.env.WRITES ?? "0,50,10").split(",").map(Number);
/** Measures wall-clock time, per request of all clients together, instead of processor time. */
const WALL = process.env.WALL === "1";
/** Requests of each kind whose responses are compared. */
const COMPARED = 3;

type Request = { path: string; user: string; write?: Write | undefined };

/**
 * Milliseconds of processor (or wall-clock) time per request in each round, by service. Every service gets the same requests. The first
 * round is three times as long: it fills caches.
 */
async function measure(
  services: readonly Service[],
  request: (i: number, service: Service) => Request,
): Promise<number[][]> {
  const measured: number[][] = services.map(() => []);
  for (let round = 0; round <= ROUNDS; round++)
    for (const [index, service] of services.entries()) {
      let sent = round * 1_000_000;
      const before = processorTimes(service);
      const start = performance.now();
      const end = start + SECONDS * (round === 0 ? 3000 : 1000);
      const client = async () => {
        do {
          const { path, user, write } = request(sent++, service);
          const response = write
            ? await send(service, write.path, { ...write, user: "admin" })
            : await send(service, path, { user });
          await response.arrayBuffer();
        } while (performance.now() < end);
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      const time = WALL ? performance.now() - start : processorTimeSince(service, before);
      measured[index].push(time / (sent - round * 1_000_000));
    }
  return measured;
}

/** Prints the median times without the first round, and the ratio of each other service to the first one. */
function report(services: readonly Service[], name: string, measured: readonly number[][]): void {
  const [own, ...others] = measured.map((rounds) => rounds.slice(1));
  const ratios = others.map((times, i) => {
    const ratio = median(times.map((time, round) => time / own[round]));
    return `${ratio.toFixed(1)} times less than ${services[i + 1].name} (${median(times).toFixed(2)} ms)`;
  });
  const [[first]] = measured;
  say(`${name}: ${[`${median(own).toFixed(2)} ms (first round ${first.toFixed(2)})`, ...ratios].join(", ")}`);
}

/** @throws if a service returns other records than the first one */
async function compareResponses(services: readonly Service[], kind: Kind, user: string): Promise<void> {
  const random = seeded(1);
  for (let i = 0; i < COMPARED; i++) {
    const path = kind.path(random, RECORDS);
    const values = await Promise.all(
      services.map(async (service) => readValue<Page>(service, await send(service, path, { user }))),
    );
    for (const [n, value] of values.entries())
      for (const key of ["total", "current", "total_pages", "results", "id"] as (keyof Page)[])
        if (!Bun.deepEquals(value[key], values[0][key]))
          throw new Error(
            `${path}: ${key} of ${services[n].name} differs: ${JSON.stringify([value[key], values[0][key]]).slice(0, 2000)}`,
          );
  }
}

async function measureLists(services: readonly Service[]): Promise<void> {
  const kinds = KINDS.filter(({ name }) => name.includes(WANTED)).flatMap((kind) =>
    kind.users.map((user) => ({ kind, user })),
  );
  const chooseServices = ({ own }: Kind): readonly Service[] =>
    own ? services.filter(({ name }) => EXECUTABLES.includes(name)) : services;
  for (const { kind, user } of kinds) await compareResponses(chooseServices(kind), kind, user);
  for (const every of WRITES)
    for (const { kind, user } of kinds) {
      const measured = await measure(chooseServices(kind), (i) => {
        const random = seeded(i);
        const path = kind.path(random, RECORDS);
        const isWrite = every > 0 && i % every === every - 1;
        return { path, user, write: isWrite ? writeBeside(path, random, RECORDS) : undefined };
      });
      const writes = every > 0 ? `, one write in ${every}` : "";
      report(chooseServices(kind), `${kind.name}, ${user}${writes}`, measured);
    }
}

async function measureCreation(services: readonly Service[]): Promise<void> {
  const count = async (service: Service) =>
    (await readValue<Page>(service, await send(service, "locations/?name=New", { user: "admin" }))).total;
  const before = await Promise.all(services.map(count));
  const created = new Map(services.map((service) => [service, 0]));
  const measured = await measure(services, (i, service) => {
    created.set(service, created.get(service)! + 1);
    const write = creation(i);
    return { path: write.path, user: "user0", write };
  });
  for (const [i, service] of services.entries())
    if ((await count(service)) !== before[i] + created.get(service)!)
      throw new Error(`${service.name}: created records are missing`);
  report(services, "create", measured);
}

const directory = mkdtempSync(join(tmpdir(), "labd-bench-"));
const services: Service[] = [];
try {
  for (const [i, executable] of EXECUTABLES.entries())
    services.push(await startLabd(executable, join(directory, `labd-${i}`), RECORDS));
  const peer = process.env.PEER === "0" ? undefined : await startPeer(directory, RECORDS);
  if (peer) services.push(peer);
  else if (process.env.PEER !== "0")
    say("No peer: install rest_framework, django_filters and gunicorn for /usr/bin/python3");
  say(
    `${RECORDS} records of each kind, ${CLIENTS} clients; ${WALL ? "wall-clock" : "processor"} time per request`,
  );
  await measureLists(services);
  if ("create".includes(WANTED)) await measureCreation(services);
  const [pid] = services[0].pids();
  say(
    `${services[0].name}: ${readMemory(pid).toFixed(0)} MB at the end, ${readMemory(pid, "VmHWM").toFixed(0)} MB peak`,
  );
} finally {
  for (const service of services) await service.stop();
  rmSync(directory, { recursive: true, force: true });
}
