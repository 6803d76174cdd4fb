<?php
// The whole conversation with PHP's SoapClient, from the WSDL alone. Arguments: address of the WSDL, sequence, unknown job.
[, $wsdl, $sequence, $unknown] = $argv;
$client = new SoapClient($wsdl, ['features' => SOAP_SINGLE_ELEMENT_ARRAYS, 'cache_wsdl' => WSDL_CACHE_NONE]);
$job = $client->RunJob([
    'identifier' => 'A & <B>',
    'querySequence' => $sequence,
    'scoringModel' => 'discontinuous',
    'regularExpression' => ['L.C.E', 'W{3}'],
    'elmIdentifierName' => ['LIG_SH3_1'],
])->JobIdentifier;
do {
    usleep(20000);
    $status = $client->GetStatus(['JobIdentifier' => $job])->Status;
} while (in_array($status, ['queued', 'running']));
echo "status $status\n";
$prediction = $client->GetResult(['JobIdentifier' => $job])->ConScorePrediction;
echo "query {$prediction->query->identifier} {$prediction->query->sequenceLength} $prediction->scoringModel\n";
foreach ($prediction->pattern as $pattern) {
    echo "pattern $pattern->expression $pattern->matchCount\n";
    foreach ($pattern->motifMatch ?? [] as $match)
        echo "match $match->firstResidue $match->lastResidue $match->matchedText\n";
}
$local = fn(SoapFault $fault) => preg_replace('/.*:/', '', $fault->faultcode);
try {
    $client->GetStatus(['JobIdentifier' => $unknown]);
} catch (SoapFault $fault) {
    echo "fault {$local($fault)} {$fault->detail->JobIdentifierFault->FaultDescription}\n";
}
try {
    $client->RunJob(['identifier' => 'x', 'querySequence' => 'acgt', 'scoringModel' => 'continuous']);
} catch (SoapFault $fault) {
    echo "refused {$local($fault)} {$fault->detail->problem->code}\n";
}
