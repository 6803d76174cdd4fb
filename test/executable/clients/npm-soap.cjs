// The whole conversation with npm soap, from the WSDL alone. Arguments: address of the WSDL, sequence, unknown job.
const soap = require("soap");

const [, , wsdl, sequence, unknown] = process.argv;
const say = (...words) => process.stdout.write(`${words.join(" ")}\n`);
const listed = (value) => (value === undefined ? [] : [value].flat());

async function main() {
  const client = await soap.createClientAsync(wsdl);
  const [{ JobIdentifier }] = await client.RunJobAsync({
    identifier: "A & <B>",
    querySequence: sequence,
    scoringModel: "discontinuous",
    regularExpression: ["L.C.E", "W{3}"],
    elmIdentifierName: ["LIG_SH3_1"],
  });
  let Status = "queued";
  while (Status === "queued" || Status === "running") {
    [{ Status }] = await client.GetStatusAsync({ JobIdentifier });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  say("status", Status);
  const [{ ConScorePrediction }] = await client.GetResultAsync({ JobIdentifier });
  const { query, scoringModel, pattern } = ConScorePrediction;
  say("query", query.identifier, query.sequenceLength, scoringModel);
  for (const { expression, matchCount, motifMatch } of listed(pattern)) {
    say("pattern", expression, matchCount);
    for (const { firstResidue, lastResidue, matchedText } of listed(motifMatch))
      say("match", firstResidue, lastResidue, matchedText);
  }
  try {
    await client.GetStatusAsync({ JobIdentifier: unknown });
  } catch (error) {
    const { faultcode, detail } = error.root.Envelope.Body.Fault;
    say("fault", String(faultcode).split(":").pop(), detail.JobIdentifierFault.FaultDescription);
  }
  try {
    await client.RunJobAsync({ identifier: "x", querySequence: "acgt", scoringModel: "continuous" });
  } catch (error) {
    const { faultcode, detail } = error.root.Envelope.Body.Fault;
    say("refused", String(faultcode).split(":").pop(), detail.problem.code);
  }
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
