"""The whole conversation with zeep, from the WSDL alone. Arguments: address of the WSDL, sequence, unknown job."""
import sys
import time

import zeep

service = zeep.Client(sys.argv[1]).service
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
    for match in pattern.motifMatch:
        print("match", match.firstResidue, match.lastResidue, match.matchedText)
try:
    service.GetStatus(sys.argv[3])
except zeep.exceptions.Fault as fault:
    described = [child for child in fault.detail if child.tag.endswith("}JobIdentifierFault")][0]
    print("fault", fault.code.split(":")[-1], described[0].text)
try:
    service.RunJob(identifier="x", querySequence="acgt", scoringModel="continuous")
except zeep.exceptions.Fault as fault:
    print("refused", fault.code.split(":")[-1], fault.detail[0][0].text)
