# The whole conversation with XML::Compile: messages are written and read by our schemas, which are fetched from the
# service. Arguments: address of the WSDL, sequence, unknown job.
use strict;
use warnings;
use HTTP::Tiny;
use XML::Compile::Schema;
use XML::LibXML;

my ($wsdl, $sequence, $unknown) = @ARGV;
my $namespace  = 'http://labd.example/conservation-scorer';
my $prediction = 'http://labd.example/conservation-prediction/1';
my $envelope   = 'http://schemas.xmlsoap.org/soap/envelope/';
( my $endpoint = $wsdl ) =~ s/\?.*//;
my $http = HTTP::Tiny->new;
my $document = XML::LibXML->load_xml( string => $http->get($wsdl)->{content} );
my $schemas = XML::Compile::Schema->new( [ $document->getElementsByTagNameNS( 'http://www.w3.org/2001/XMLSchema', 'schema' ) ] );

sub call {
    my ( $operation, $value ) = @_;
    my $message = XML::LibXML::Document->new( '1.0', 'UTF-8' );
    my $request = $schemas->compile( WRITER => "{$namespace}$operation" )->( $message, $value );
    my $root = $message->createElementNS( $envelope, 'e:Envelope' );
    $message->setDocumentElement($root);
    $root->appendChild( $message->createElementNS( $envelope, 'e:Body' ) )->appendChild($request);
    my $response = $http->post( $endpoint, {
        headers => { 'Content-Type' => 'text/xml; charset=utf-8', SOAPAction => "\"$namespace/ConservationScorer/$operation\"" },
        content => $message->toString,
    } );
    my ($body) = XML::LibXML->load_xml( string => $response->{content} )->getElementsByTagNameNS( $envelope, 'Body' );
    my ($content) = grep { $_->nodeType == 1 } $body->childNodes;
    return ( undef, $content ) if $content->localname eq 'Fault';
    return ( $schemas->compile( READER => "{$namespace}${operation}Response", sloppy_floats => 1 )->($content), undef );
}

my ($accepted) = call( RunJob => { identifier => 'A & <B>', querySequence => $sequence, scoringModel => 'discontinuous',
    regularExpression => [ 'L.C.E', 'W{3}' ], elmIdentifierName => ['LIG_SH3_1'] } );
my $job = { JobIdentifier => $accepted->{JobIdentifier} };
my $status = 'queued';
while ( $status eq 'queued' or $status eq 'running' ) {
    select undef, undef, undef, 0.02;
    my ($answer) = call( GetStatus => $job );
    $status = $answer->{Status};
}
print "status $status\n";
my ($answer) = call( GetResult => $job );
my $found = $answer->{ConScorePrediction};
print "query $found->{query}{identifier} $found->{query}{sequenceLength} $found->{scoringModel}\n";
for my $pattern ( @{ $found->{pattern} } ) {
    print "pattern $pattern->{expression} $pattern->{matchCount}\n";
    print "match $_->{firstResidue} $_->{lastResidue} $_->{matchedText}\n" for @{ $pattern->{motifMatch} // [] };
}
my ( undef, $fault ) = call( GetStatus => { JobIdentifier => $unknown } );
my ($typed) = $fault->getElementsByTagNameNS( $namespace, 'JobIdentifierFault' );
my $described = $schemas->compile( READER => "{$namespace}JobIdentifierFault" )->($typed);
print 'fault ', $fault->findvalue('faultcode') =~ s/.*://r, " $described->{FaultDescription}\n";
eval { call( RunJob => { identifier => 'x', querySequence => 'acgt', scoringModel => 'continuous' } ) };
# XML::Compile holds the value to our schema itself, and sends nothing.
print 'refused ', $@ =~ /pattern|acgt/ ? 'Client' : 'nobody', "\n";
