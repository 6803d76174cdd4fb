import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BackupFailure, openSchedule } from "../../../src/operations/backup/schedule.ts";
import { listBackups } from "../../../src/operations/backup/manifest.ts";
import { openLog } from "../../../src/platform/log.ts";
import { runPending, waitFor } from "../../wait.ts";

const HOUR = 3_600_000;

test("creates a backup if the newest is old, missing or from the future, and retries later after a failure", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-schedule-"));
  const lines: { event: string; cause?: string }[] = [];
  let now = Date.parse("2026-11-21T12:00:00Z");
  const backup = (created: number, reason = "schedule"): void =>
    writeFileSync(
      join(directory, "labd-20261121T000000Z.json"),
      JSON.stringify({
        format: 1,
        created: new Date(created).toISOString(),
        reason,
        database: { sha256: "" },
        corpora: [],
      }),
    );
  const failure = new BackupFailure(() =>
    Date.parse(listBackups(directory).at(-1)?.manifest.created ?? "1970-01-01"),
  );
  let made = 0;
  let code = 1;
  const schedule = openSchedule({
    directory,
    hours: 24,
    clock: { now: () => now, newId: () => "" },
    log: openLog(
      "requests",
      (line) => lines.push(JSON.parse(line)),
      () => now,
    ),
    failure,
    interval: 5,
    make() {
      made++;
      return Bun.spawn(
        [process.execPath, "-e", `console.error("Uploading: 10 %\\nlabd: no room"); process.exit(${code})`],
        {
          stdin: "ignore",
          stdout: "pipe",
          stderr: "pipe",
        },
      );
    },
  });
  try {
    expect(schedule.isDue()).toBeTrue();
    await waitFor(() => lines.length === 1);
    expect(lines[0]).toMatchObject({ event: "backup failed", cause: "no room" });
    expect(failure.read()).toBe("The backup of 2026-11-21T12:00:00.000Z failed: no room");
    await runPending();
    expect(made).toBe(1);
    backup(now);
    expect(failure.read()).toBe("The backup of 2026-11-21T12:00:00.000Z failed: no room");
    backup(now + 1);
    expect(failure.read()).toBeUndefined();
    backup(now);
    expect(schedule.isDue()).toBeFalse();
    backup(now, "upgrade");
    expect(schedule.isDue()).toBeTrue();
    backup(now + HOUR);
    expect(schedule.isDue()).toBeTrue();
    backup(now - 24 * HOUR);
    expect(schedule.isDue()).toBeTrue();
    code = 0;
    now += 2 * HOUR;
    // It is due still, and so may have made another before this looks.
    await waitFor(() => lines.length >= 2);
    expect(lines[1].event).toBe("backup");
    backup(now);
  } finally {
    await schedule.close();
    rmSync(directory, { recursive: true });
  }
});

test("reports a scheduled backup of damaged content until the next one", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-schedule-"));
  const lines: { event: string; cause?: string }[] = [];
  const created = Date.parse("2026-11-21T12:00:00Z");
  let newest = 0;
  const failure = new BackupFailure(() => newest);
  const schedule = openSchedule({
    directory,
    hours: 24,
    clock: { now: () => created, newId: () => "" },
    log: openLog(
      "requests",
      (line) => lines.push(JSON.parse(line)),
      () => created,
    ),
    failure,
    interval: 5,
    make() {
      const manifest = {
        format: 1,
        created: new Date(created).toISOString(),
        reason: "schedule",
        database: { sha256: "" },
        corpora: [],
        damaged: ["prediction of job j1"],
      };
      writeFileSync(join(directory, "labd-20261121T120000Z.json"), JSON.stringify(manifest));
      newest = created;
      return Bun.spawn(["true"], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    },
  });
  try {
    await waitFor(() => lines.length >= 2);
    expect(lines[0]).toMatchObject({
      event: "backup of damaged content",
      cause: expect.stringContaining("prediction of job j1"),
    });
    expect(failure.read()).toContain("prediction of job j1");
    newest = created + 1;
    expect(failure.read()).toBeUndefined();
  } finally {
    await schedule.close();
    rmSync(directory, { recursive: true });
  }
});
