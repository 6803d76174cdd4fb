// The same service by npm soap on the runtime's own HTTP server; it checks no facet. It keeps nothing, or, with a database
// (which needs Bun for its SQLite), a row for each job, on the disk before it is answered. Arguments: WSDL file, result as
// JSON [database].
const http = require("node:http");
const { randomUUID } = require("node:crypto");
const { readFileSync } = require("node:fs");
const soap = require("soap");

const [, , wsdl, result, path] = process.argv;
const RESULT = JSON.parse(readFileSync(result, "utf8"));
const FINISHED = { Status: "finished", StatusDetails: "Took 0.01 s; GetResult has the prediction." };

/** Answers that nothing is kept for. */
const forgetful = {
  RunJob: () => ({ JobIdentifier: randomUUID() }),
  GetStatus: () => FINISHED,
  GetResult: () => RESULT,
};

/** The plain way to keep jobs: one row each, one commit each. A job that it does not have, which is labd's, counts as finished. */
function durable(path) {
  const { Database } = require("bun:sqlite");
  const database = new Database(path, { create: true });
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("CREATE TABLE job (id TEXT PRIMARY KEY, state TEXT NOT NULL, request TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO job (id, state, request) VALUES (?, 'queued', ?)");
  const find = database.prepare("SELECT state FROM job WHERE id = ?");
  return {
    RunJob(request) {
      const JobIdentifier = randomUUID();
      insert.run(JobIdentifier, JSON.stringify(request));
      return { JobIdentifier };
    },
    GetStatus({ JobIdentifier }) {
      const row = find.get(JobIdentifier);
      return row ? { ...FINISHED, Status: row.state } : FINISHED;
    },
    GetResult: () => RESULT,
  };
}

const server = http.createServer((_, response) => response.writeHead(404).end());
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const port = path === undefined ? forgetful : durable(path);
  const names = { ConservationScorer: port };
  soap.listen(server, "/soap/ConservationScorer", { ConservationScorer: names }, readFileSync(wsdl, "utf8"));
  process.stdout.write(`serves http://127.0.0.1:${server.address().port}\n`);
});
