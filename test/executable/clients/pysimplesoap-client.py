"""The whole conversation with PySimpleSOAP. Arguments: address of the WSDL, sequence, unknown job."""
import sys
import time

from pysimplesoap.client import SoapClient, SoapFault

service = SoapClient(wsdl=sys.argv[1], cache=None)
# It cannot write lists of simple types from the WSDL: this one call names its elements.
plain = SoapClient(
    location=sys.argv[1].split("?")[0],
    namespace="http://labd.example/conservation-scorer",
    ns=False,
    action="",
)
job = str(
    plain.call(
        "RunJob",
        ("identifier", "A & <B>"),
        ("querySequence", sys.argv[2]),
        ("scoringModel", "discontinuous"),
        ("regularExpression", "L.C.E"),
        ("regularExpression", "W{3}"),
        ("elmIdentifierName", "LIG_SH3_1"),
    ).JobIdentifier
)
status = "queued"
while status in ("queued", "running"):
    time.sleep(0.02)
    status = service.GetStatus(JobIdentifier=job)["Status"]
print("status", status)
prediction = service.GetResult(JobIdentifier=job)["ConScorePrediction"]
query = prediction["query"]
print("query", query["identifier"], query["sequenceLength"], prediction["scoringModel"])
for pattern in prediction["pattern"]:
    print("pattern", pattern["expression"], pattern["matchCount"])
    for match in pattern.get("motifMatch", []):
        print("match", match["firstResidue"], match["lastResidue"], match["matchedText"])
try:
    service.GetStatus(JobIdentifier=sys.argv[3])
except SoapFault as fault:
    print("fault", fault.faultcode.split(":")[-1], fault.faultstring)
try:
    service.RunJob(identifier="x", querySequence="acgt", scoringModel="continuous")
except SoapFault as fault:
    print("refused", fault.faultcode.split(":")[-1])
