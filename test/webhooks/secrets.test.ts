import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkSecrets } from "../../src/webhooks/secret.ts";
import { isSigned, type Receiver } from "./receiver.ts";
import { HOUR, webhookStage } from "./stage.ts";

const stage = webhookStage();
const { add, advance, ask, change, deliver, reopen } = stage;

describe("secrets", () => {
  /** The next delivery, signed now. */
  async function next(): Promise<Receiver["got"][number]> {
    await change(`at ${stage.lab.clock.now()} ${stage.receiver.got.length}`);
    await deliver();
    return stage.receiver.got.at(-1)!;
  }
  const signers = async (...secrets: string[]) => {
    const delivery = await next();
    return secrets.map((secret) => isSigned(secret, delivery));
  };

  test("after a rotation the previous secret also signs for a while", async () => {
    const { id, secret: first } = await add("alice");
    const rotate = async (body: object) => (await ask("POST", `${id}/secret/`, "alice", body)).body;
    const { secret: second, former_secret_until } = await rotate({ overlap_hours: 2 });
    expect(former_secret_until).toBe(new Date(stage.lab.clock.now() + 2 * HOUR).toISOString());
    const both = await next();
    expect(both.headers.get("webhook-signature")).toMatch(/^v1,\S{44} v1,\S{44}$/);
    expect([isSigned(first, both), isSigned(second, both)]).toEqual([true, true]);
    const { secret: third } = await rotate({});
    expect(await signers(first, second, third)).toEqual([false, true, true]);
    advance(24 * HOUR);
    expect(await signers(second, third)).toEqual([false, true]);
    await stage.webhooks.deliverer.poll();
    const stored = stage.lab.database
      .query("SELECT former_sealed_secret AS former, former_until FROM webhook")
      .get();
    expect(stored).toEqual({ former: null, former_until: null });
    const fourth = await rotate({ overlap_hours: 0 });
    expect(fourth.former_secret_until).toBeNull();
    expect(await signers(third, fourth.secret)).toEqual([false, true]);
    for (const body of [{ overlap_hours: 1.5 }, { overlap_hours: "1" }, { overlap_hours: 721 }, { hours: 1 }])
      expect((await ask("POST", `${id}/secret/`, "alice", body)).status).toBe(400);
    const recorded = stage.lab.accounts.audit.log.latest({ action: "webhook" }, 10).reverse();
    const actions = ["webhook.create", ...Array<string>(3).fill("webhook.secret")];
    expect(recorded.map(({ action }) => action)).toEqual(actions);
    expect(recorded[0]).toMatchObject({ actor: "alice", subject: { kind: "webhook", id } });
    expect(JSON.stringify(recorded)).not.toMatch(/whsec|key=1/);
  });

  test("secrets are encrypted for their webhook, and deliveries wait while the key is missing", async () => {
    const { id, secret } = await add("alice");
    const { secret: rotated } = (await ask("POST", `${id}/secret/`, "alice")).body;
    const stored = JSON.stringify(stage.lab.database.query("SELECT * FROM webhook").all());
    for (const one of ["whsec_", secret.slice(6), rotated.slice(6)]) expect(stored).not.toContain(one);
    await reopen();
    expect(await signers(secret, rotated)).toEqual([true, true]);
    const other = await add("bob");
    stage.lab.database
      .query(
        "UPDATE webhook SET sealed_secret = (SELECT sealed_secret FROM webhook WHERE id = ?) WHERE id = ?",
      )
      .run(id, other.id);
    expect(stage.webhooks.store.find(other.id)?.secret).toBeNull();
    await ask("DELETE", `${other.id}/`, "bob");

    const right = stage.keyFile;
    stage.keyFile = join(stage.folder, "another");
    await reopen();
    const { length } = stage.receiver.got;
    await next();
    expect(stage.receiver.got).toHaveLength(length);
    expect((await ask("GET", `${id}/`, "alice")).body.last_error).toContain("cannot be decrypted");
    stage.keyFile = right;
    await reopen();
    advance(HOUR);
    await deliver();
    expect(stage.receiver.got).toHaveLength(length + 1);
    stage.keyFile = join(stage.folder, "another");
    await reopen();
    const fresh = (await ask("POST", `${id}/secret/`, "alice")).body;
    expect(fresh.former_secret_until).toBeNull();
    expect(await signers(fresh.secret)).toEqual([true]);
  });

  test("doctor checks secrets against the key file", async () => {
    const check = (key = stage.keyFile) => checkSecrets(stage.lab.database.filename, key);
    expect(check()).toEqual([]);
    expect(checkSecrets(join(stage.folder, "no database"), stage.keyFile)).toEqual([]);
    const { id } = await add("alice");
    expect(check()).toMatchObject([{ state: "ok", about: "webhooks" }]);
    expect(check("/nowhere")).toMatchObject([
      { state: "problem", found: expect.stringContaining(`is missing: deliveries of 1 of 1`) },
    ]);
    const other = join(stage.folder, "other");
    writeFileSync(other, "00".repeat(32));
    expect(check(other)[0].found).toMatch(new RegExp(`does not match: .*: ${id}\\.$`));
  });
});
