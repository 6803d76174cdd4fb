// The whole conversation with Mono's asmx client, from classes generated from the WSDL. Arguments: address of the
// service, sequence, unknown job.
using System;
using System.Threading;
using System.Web.Services.Protocols;

class MonoClient
{
    static void Main(string[] arguments)
    {
        var service = new ConservationScorer { Url = arguments[0] };
        var job = service.RunJob("A & <B>", arguments[1], ScoringModel.discontinuous, new[] { "L.C.E", "W{3}" }, new[] { "LIG_SH3_1" });
        string details, status;
        do
        {
            Thread.Sleep(20);
            status = service.GetStatus(job, out details);
        } while (status == "queued" || status == "running");
        Console.WriteLine("status " + status);
        var prediction = service.GetResult(job);
        Console.WriteLine("query {0} {1} {2}", prediction.query.identifier, prediction.query.sequenceLength, prediction.scoringModel);
        foreach (var pattern in prediction.pattern)
        {
            Console.WriteLine("pattern {0} {1}", pattern.expression, pattern.matchCount);
            foreach (var match in pattern.motifMatch ?? new MotifMatch[0])
                Console.WriteLine("match {0} {1} {2}", match.firstResidue, match.lastResidue, match.matchedText);
        }
        try
        {
            service.GetStatus(arguments[2], out details);
        }
        catch (SoapException fault)
        {
            Console.WriteLine("fault {0} {1}", fault.Code.Name, fault.Detail.FirstChild.InnerText);
        }
        try
        {
            service.RunJob("x", "acgt", ScoringModel.continuous, new string[0], new string[0]);
        }
        catch (SoapException fault)
        {
            Console.WriteLine("refused {0} {1}", fault.Code.Name, fault.Detail.FirstChild.InnerText);
        }
    }
}
