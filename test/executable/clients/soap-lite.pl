# The whole conversation with SOAP::Lite. Arguments: address of the WSDL, sequence, unknown job.
use strict;
use warnings;
use SOAP::Lite;

my ($wsdl, $sequence, $unknown) = @ARGV;
my $namespace = 'http://labd.example/conservation-scorer';
( my $endpoint = $wsdl ) =~ s/\?.*//;
my $soap = SOAP::Lite->new( proxy => $endpoint, autotype => 0 )->default_ns($namespace)
    ->on_action( sub { "$namespace/ConservationScorer/$_[1]" } )->on_fault( sub { $_[1] } );
my $data = sub { my ( $name, $value ) = @_; SOAP::Data->name($name)->value($value)->type('string') };

my $job = $soap->call( RunJob => $data->( identifier => 'A & <B>' ), $data->( querySequence => $sequence ),
    $data->( scoringModel => 'discontinuous' ), $data->( regularExpression => 'L.C.E' ),
    $data->( regularExpression => 'W{3}' ), $data->( elmIdentifierName => 'LIG_SH3_1' ) )->result;
my $status = 'queued';
while ( $status eq 'queued' or $status eq 'running' ) {
    select undef, undef, undef, 0.02;
    $status = $soap->call( GetStatus => $data->( JobIdentifier => $job ) )->valueof('//GetStatusResponse/Status');
}
print "status $status\n";
my $answer = $soap->call( GetResult => $data->( JobIdentifier => $job ) );
my $prediction = '//ConScorePrediction';
print join( ' ', 'query', map { $answer->valueof("$prediction/$_") } qw(query/identifier query/sequenceLength scoringModel) ), "\n";
# Values are asked for by their paths: an element with several children of one name has no hash of them.
my $patterns = "$prediction/pattern";
my @counts = $answer->valueof("$patterns/matchCount");
my @first = $answer->valueof("$patterns/motifMatch/firstResidue");
my @last = $answer->valueof("$patterns/motifMatch/lastResidue");
my @text = $answer->valueof("$patterns/motifMatch/matchedText");
for my $expression ( $answer->valueof("$patterns/expression") ) {
    my $count = shift @counts;
    print "pattern $expression $count\n";
    print join( ' ', 'match', shift @first, shift @last, shift @text ), "\n" for 1 .. $count;
}
my $fault = $soap->call( GetStatus => $data->( JobIdentifier => $unknown ) );
print 'fault ', $fault->faultcode =~ s/.*://r, ' ', $fault->faultdetail->{JobIdentifierFault}{FaultDescription}, "\n";
my $refused = $soap->call( RunJob => $data->( identifier => 'x' ), $data->( querySequence => 'acgt' ),
    $data->( scoringModel => 'continuous' ) );
print join( ' ', 'refused', $refused->faultcode =~ s/.*://r, $refused->faultdetail->{problem}{code} ), "\n";
