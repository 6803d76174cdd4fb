// What the npm package does, against a server: one function for each test, with the name as the argument.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import * as labd from "labd";

const { LABD_URL, LABD_TOKEN, PROXY } = process.env;

const tests = {
  /** Fetches all pages, one record after the other, and sends long queries in the body. */
  async pages() {
    const lab = await labd.connect();
    const rows = Array.from({ length: 1200 }, (_, n) => `Vial ${n},${n} µL,npm`);
    const report = await lab.consumables.importFile(`name,amount,lot\n${rows.join("\n")}\n`);
    assert.equal(report.created, 1200);
    const all = await lab.consumables.list({ lot: "npm", ordering: "name__natural" });
    assert.deepEqual(
      all.map(({ amount }) => amount),
      Array.from(rows.keys()),
    );
    assert.equal(all[0].unit__name, "microliter");
    assert.equal((await lab.consumables.list({ lot: "npm", limit: 1001 })).length, 1001);
    const names = Array.from({ length: 900 }, (_, n) => `Vial ${n}`);
    assert.equal((await lab.consumables.list({ lot: "npm", name__in: names })).length, 900);
    assert.equal(await lab.consumables.count({ lot: "npm", amount__gte: 1000, location: null }), 200);
    for await (const { name } of lab.consumables.iterate({ lot: "npm", ordering: "amount", limit: 1 }))
      assert.equal(name, "Vial 0");
  },

  /** Changes records, and refuses old versions. */
  async changes() {
    const lab = await labd.connect();
    const [a, b] = await lab.consumables.createAll([
      { name: "A", lot: "changes" },
      { name: "B", lot: "changes" },
    ]);
    const { version } = await lab.consumables.get(a, ["version"]);
    assert.equal((await lab.consumables.update(a, { supplier: "X" }, version)).supplier, "X");
    await assert.rejects(lab.consumables.update(a, { supplier: "Y" }, version), labd.VersionConflict);
    await lab.consumables.delete(b);
    assert.equal(await lab.consumables.count({ lot: "changes" }), 1);
    assert.equal((await lab.consumables.restore(b)).name, "B");
  },

  /** Uses stock, and makes aliquots. */
  async stock() {
    const lab = await labd.connect();
    const { id } = await lab.consumables.create({ name: "Ligase", amount: 1, unit: "ml", barcode: "JS-1" });
    assert.equal((await lab.refill("JS-1", "500 µL", { lot: "L1" })).amount, 1.5);
    assert.equal((await lab.aliquots("JS-1", 3, "100 µL")).length, 3);
    assert.equal((await lab.thaw(id)).freeze_thaw_count, 1);
    assert.equal((await lab.takeOut("JS-1", new Date(Date.now() + 3_600_000))).taken_out, true);
    assert.equal((await lab.putBack("JS-1")).taken_out, false);
    assert.equal((await lab.search("JS-1"))[0].id, id);
    assert.equal((await lab.proteins("TP53"))[0].accession, "P04637");
  },

  /** Errors are classes, with the words of the server and the fields. */
  async errors() {
    const lab = await labd.connect();
    await assert.rejects(lab.consumables.create({ amount: 1 }), (error) => {
      assert.ok(error instanceof labd.InvalidRequest && error.requestId);
      assert.deepEqual(error.fields, { name: ["This field is required."] });
      return true;
    });
    await assert.rejects(
      lab.consumables.importFile("name,lot\n,a\n"),
      /Row 2, name: This field is required\./,
    );
    await assert.rejects(lab.score("TP53", "F[["), /character 3/);
    await assert.rejects(lab.consume("no such code", 1), labd.NotFound);
    await assert.rejects(labd.connect({ token: "wrong" }), labd.NotAuthenticated);
    await assert.rejects(
      labd.connect({ url: "http://127.0.0.1:2", retries: 0 }),
      /connection refused.*LABD_URL/,
    );
    await assert.rejects(
      labd.connect({ url: "http://server.invalid", retries: 0 }),
      /name of the server is unknown/,
    );
    await assert.rejects(
      labd.connect({ url: process.env.MOVED }),
      new RegExp(`redirects to ${LABD_URL}/api/v2/version/`),
    );
    await assert.rejects(labd.connect({ url: `${LABD_URL}/help` }), /no labd server/);
    await assert.rejects(
      labd.connect({ url: "http://me:secret@server" }),
      (error) => !inspect(error).includes("secret"),
    );
  },

  /** Neither messages nor what the console prints has the token. */
  async secrets() {
    const lab = await labd.connect();
    const printed = [inspect(lab, { depth: 10, showHidden: true })];
    for (const call of [
      () => lab.consumables.list({ nme__x: 1 }),
      () => labd.connect({ url: "http://127.0.0.1:2", retries: 0 }),
    ])
      await call().catch((error) => printed.push(inspect(error, { depth: 10, showHidden: true })));
    assert.equal(printed.length, 3);
    assert.ok(!printed.join("").includes(LABD_TOKEN));
  },

  /** A change counts once although its answer was lost; PROXY loses the first. */
  async retried() {
    const direct = await labd.connect();
    const { id } = await direct.find("CO0000119");
    const { amount } = await direct.consumables.get(id);
    const left = await (await labd.connect({ url: PROXY })).consume("CO0000119", "20 µL");
    assert.equal(left.amount, amount - 20);
    assert.equal((await direct.consumables.get(id)).amount, amount - 20);
  },

  /** An import whose answer was lost is not sent again. */
  async unrepeatable() {
    const lab = await labd.connect({ url: PROXY });
    await assert.rejects(lab.consumables.importFile("name,lot\nonce,once\n"), /may have been carried out/);
    const direct = await labd.connect();
    while ((await direct.consumables.count({ lot: "once" })) === 0);
    assert.equal(await direct.consumables.count({ lot: "once" }), 1);
  },

  /** Waits as long as a busy server asks for, and tries again; PROXY is busy at first. */
  async busy() {
    const lab = await labd.connect({ url: PROXY });
    assert.equal((await lab.consumables.create({ name: "busy", lot: "busy npm" })).name, "busy");
    assert.equal(await lab.consumables.count({ lot: "busy npm" }), 1);
    await assert.rejects(labd.connect({ url: process.env.BUSY, retries: 1 }), labd.Unavailable);
  },

  /** Progress is told to a function, or shown where it is asked for. */
  async progress() {
    const told = [];
    await (await labd.connect({ progress: (fraction, text) => told.push([fraction, text]) })).scan("P04637");
    assert.deepEqual(told.at(-1), [1, "finished"]);
    await (await labd.connect({ progress: true })).scan("P04637");
    await (await labd.connect()).scan("P04637");
  },
};

await tests[process.argv[2]]();
