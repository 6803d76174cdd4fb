# The whole conversation with soap4r, from the WSDL alone. Arguments: address of the WSDL, sequence, unknown job.
require "soap/wsdlDriver"

# soap4r sets the encoding of a source that newer versions of REXML have read already.
class XSD::XMLParser::REXMLParser
  def do_parse(source)
    @charset = "utf-8"
    REXML::Document.parse_stream(source, self)
  end
end

wsdl, sequence, unknown = ARGV
service = SOAP::WSDLDriverFactory.new(wsdl).create_rpc_driver
job = service.RunJob(
  "identifier" => "A & <B>", "querySequence" => sequence, "scoringModel" => "discontinuous",
  "regularExpression" => ["L.C.E", "W{3}"], "elmIdentifierName" => ["LIG_SH3_1"]
).jobIdentifier
status = "queued"
while %w[queued running].include?(status)
  sleep 0.02
  status = service.GetStatus("JobIdentifier" => job).status
end
puts "status #{status}"
prediction = service.GetResult("JobIdentifier" => job).conScorePrediction
puts "query #{prediction.query.identifier} #{prediction.query.sequenceLength} #{prediction.scoringModel}"
listed = ->(value) { value.nil? ? [] : value.is_a?(Array) ? value : [value] }
listed[prediction.pattern].each do |pattern|
  puts "pattern #{pattern.expression} #{pattern.matchCount}"
  matches = pattern.respond_to?(:motifMatch) ? pattern.motifMatch : nil
  listed[matches].each { |match| puts "match #{match.firstResidue} #{match.lastResidue} #{match.matchedText}" }
end
begin
  service.GetStatus("JobIdentifier" => unknown)
rescue SOAP::FaultError => error
  puts "fault #{error.faultcode.data.to_s.sub(/.*[:}]/, "")} #{error.detail.jobIdentifierFault.faultDescription}"
end
begin
  service.RunJob("identifier" => "x", "querySequence" => "acgt", "scoringModel" => "continuous")
rescue XSD::ValueSpaceError
  # soap4r holds the value to our schema itself, and sends nothing.
  puts "refused Client"
end
