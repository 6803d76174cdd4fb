import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ask, E7, element, ended, labd, post, runJobMessage, scratch, serve } from "./labd.ts";
import { CAN_MOUNT, fill, smallDisk, UNLESS_MOUNTED } from "./small-disk.ts";

/** A data directory on a file system of a few megabytes that fills up. Needs the right to mount one. */

const submit = (url: string, tail: string): ReturnType<typeof post> =>
  post(url, runJobMessage({ sequence: E7 + tail, patterns: ["L.C.E"] }));

test.skipIf(!CAN_MOUNT)(
  `a full disk is a clear fault and harms nothing${UNLESS_MOUNTED}`,
  async () => {
    using place = scratch();
    using disk = smallDisk(place.directory)!;
    const data = join(disk.directory, "data");
    await labd(["corpus", "add", "--sample"], { env: { LABD_DATA_DIR: data } });
    const filler = join(disk.directory, "filler");
    const jobs: string[] = [];
    {
      await using server = await serveIn(data);
      for (let i = 0; i < 5; i++)
        jobs.push(element((await submit(server.url, "A".repeat(i))).text, "JobIdentifier")!);
      for (const job of jobs) expect(await ended(server.url, job)).toBe("finished");
      const before = (await ask(server.url, "GetResult", jobs[0])).text;

      fill(filler);
      expect(statSync(filler).size).toBeGreaterThan(100_000);
      // What is in the log's own room may still be taken; then nothing is.
      let refused: Awaited<ReturnType<typeof post>> | null = null;
      for (let i = 0; i < 400 && refused === null; i++) {
        const answer = await submit(server.url, "C".repeat(400 + i));
        if (answer.status === 200) jobs.push(element(answer.text, "JobIdentifier")!);
        else refused = answer;
      }
      expect(refused?.status).toBe(500);
      expect(element(refused!.text, "faultcode")).toEndWith(":Server");
      expect(element(refused!.text, "faultstring")).toContain("could not be stored; try again later");
      expect(refused!.text).toContain(">busy<");
      // Everything that only reads goes on.
      expect((await ask(server.url, "GetResult", jobs[0])).text).toBe(before);
      for (const job of jobs) expect((await ask(server.url, "GetStatus", job)).status).toBe(200);
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      expect(server.process.exitCode).toBe(null);
      // Killed amid all that, on a full disk.
      await server.end("SIGKILL");
    }
    rmSync(filler);
    await using server = await serveIn(data);
    for (const job of jobs) expect(await ended(server.url, job)).toBe("finished");
    const again = await submit(server.url, "W");
    expect(again.status).toBe(200);
    expect(await ended(server.url, element(again.text, "JobIdentifier")!)).toBe("finished");

    // And once more, with room made while it runs.
    fill(filler);
    let answer = await submit(server.url, "Y".repeat(300));
    for (let i = 0; i < 400 && answer.status === 200; i++)
      answer = await submit(server.url, "Y".repeat(301 + i));
    expect(answer.status).toBe(500);
    rmSync(filler);
    const roomy = await submit(server.url, "WW");
    expect(roomy.status).toBe(200);
    expect(await ended(server.url, element(roomy.text, "JobIdentifier")!)).toBe("finished");
    await server.end("SIGTERM");
    const database = new Database(join(data, "labd.sqlite"), { readonly: true });
    expect(database.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    database.close();
  },
  300_000,
);

const serveIn = (data: string): ReturnType<typeof serve> =>
  serve(data, ["--workers", "1", "--log", "problems"]);
