"""The whole conversation with suds, from the WSDL alone. Arguments: address of the WSDL, sequence, unknown job."""
import sys
import time

import suds.client

client = suds.client.Client(sys.argv[1], cache=None)
service = client.service
job = service.RunJob(
    identifier="A & <B>",
    querySequence=sys.argv[2],
    scoringModel="discontinuous",
    regularExpression=["L.C.E", "W{3}"],
    elmIdentifierName=["LIG_SH3_1"],
)
status = service.GetStatus(job)
while status.Status in ("queued", "running"):
    time.sleep(0.02)
    status = service.GetStatus(job)
print("status", status.Status)
prediction = service.GetResult(job)
print("query", prediction.query.identifier, prediction.query.sequenceLength, prediction.scoringModel)
for pattern in prediction.pattern:
    print("pattern", pattern.expression, pattern.matchCount)
    for match in getattr(pattern, "motifMatch", []):
        print("match", match.firstResidue, match.lastResidue, match.matchedText)
try:
    service.GetStatus(sys.argv[3])
except suds.WebFault as error:
    print("fault", error.fault.faultcode.split(":")[-1], error.fault.detail.JobIdentifierFault.FaultDescription)
try:
    service.RunJob(identifier="x", querySequence="acgt", scoringModel="continuous")
except suds.WebFault as error:
    print("refused", error.fault.faultcode.split(":")[-1], error.fault.detail.problem.code)
