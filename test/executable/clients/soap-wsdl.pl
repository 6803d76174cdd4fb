# The whole conversation with classes that SOAP::WSDL's wsdl2perl generates. Arguments: directory of the classes,
# sequence, unknown job.
use strict;
use warnings;

my ($classes, $sequence, $unknown) = @ARGV;
unshift @INC, $classes;
require MyInterfaces::ConservationScorer::ConservationScorer;
# Its classes have no place for the detail of a fault: strict reading would lose the whole fault.
my $service = MyInterfaces::ConservationScorer::ConservationScorer->new( { deserializer_args => { strict => 0 } } );

my $accepted = $service->RunJob( { identifier => 'A & <B>', querySequence => $sequence, scoringModel => 'discontinuous',
    regularExpression => [ 'L.C.E', 'W{3}' ], elmIdentifierName => 'LIG_SH3_1' } );
die "$accepted" unless $accepted;
my $job = $accepted->get_JobIdentifier->get_value;
my $status = 'queued';
while ( $status eq 'queued' or $status eq 'running' ) {
    select undef, undef, undef, 0.02;
    $status = $service->GetStatus( { JobIdentifier => $job } )->get_Status->get_value;
}
print "status $status\n";
my $result = $service->GetResult( { JobIdentifier => $job } );
die "$result" unless $result;
my $found = $result->get_ConScorePrediction;
my $query = $found->get_query;
print join( ' ', 'query', $query->get_identifier->get_value, $query->get_sequenceLength->get_value, $found->get_scoringModel->get_value ), "\n";
for my $pattern ( @{ $found->get_pattern } ) {
    print join( ' ', 'pattern', $pattern->get_expression->get_value, $pattern->get_matchCount->get_value ), "\n";
    for my $match ( grep { defined } @{ $pattern->get_motifMatch // [] } ) {
        print join( ' ', 'match', map { $_->get_value } $match->get_firstResidue, $match->get_lastResidue, $match->get_matchedText ), "\n";
    }
}
my $fault = $service->GetStatus( { JobIdentifier => $unknown } );
print 'fault ', $fault->get_faultcode =~ s/.*://r, ' ', $fault->get_faultstring, "\n";
my $refused = $service->RunJob( { identifier => 'x', querySequence => 'acgt', scoringModel => 'continuous' } );
print 'refused ', $refused->get_faultcode =~ s/.*://r, "\n";
