# The whole conversation with Tcl Web Services, from the WSDL alone. Arguments: address of the WSDL, sequence, unknown job.
package require http
package require WS::Client

lassign $argv wsdl sequence unknown
set service [::WS::Client::GetAndParseWsdl $wsdl]
set name ConservationScorer
proc get {path dictionary} { dict get $dictionary {*}$path }
set job [get JobIdentifier [::WS::Client::DoCall $name RunJob [dict create identifier "A & <B>" querySequence $sequence \
    scoringModel discontinuous regularExpression {L.C.E W{3}} elmIdentifierName {LIG_SH3_1}]]]
set status queued
while {$status in {queued running}} {
    after 20
    set status [get Status [::WS::Client::DoCall $name GetStatus [dict create JobIdentifier $job]]]
}
puts "status $status"
set prediction [get ConScorePrediction [::WS::Client::DoCall $name GetResult [dict create JobIdentifier $job]]]
puts "query [get {query identifier} $prediction] [get {query sequenceLength} $prediction] [get scoringModel $prediction]"
foreach pattern [get pattern $prediction] {
    puts "pattern [get expression $pattern] [get matchCount $pattern]"
    if {![dict exists $pattern motifMatch]} continue
    foreach match [get motifMatch $pattern] {
        puts "match [get firstResidue $match] [get lastResidue $match] [get matchedText $match]"
    }
}
# The error code is WS CLIENT REMERR and the fault's.
proc faultOf {options} { lindex [split [lindex [dict get $options -errorcode] 3] :] end }
catch {::WS::Client::DoCall $name GetStatus [dict create JobIdentifier $unknown]} text options
puts "fault [faultOf $options] $text"
catch {::WS::Client::DoCall $name RunJob [dict create identifier x querySequence acgt scoringModel continuous]} text options
puts "refused [faultOf $options]"
