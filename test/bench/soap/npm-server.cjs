// The same service by npm soap on Node's own HTTP server: it stores nothing and checks no facet. Argument: WSDL file.
const http = require("node:http");
const { randomUUID } = require("node:crypto");
const { readFileSync } = require("node:fs");
const soap = require("soap");

const server = http.createServer((_, response) => response.writeHead(404).end());
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const port = {
    RunJob: () => ({ JobIdentifier: randomUUID() }),
    GetStatus: () => ({ Status: "finished", StatusDetails: "Took 0.01 s; GetResult has the prediction." }),
  };
  soap.listen(
    server,
    "/soap/ConservationScorer",
    { ConservationScorer: { ConservationScorer: port, [process.argv[3]]: port } },
    readFileSync(process.argv[2], "utf8"),
  );
  process.stdout.write(`serves http://127.0.0.1:${server.address().port}\n`);
});
