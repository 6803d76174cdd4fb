import example.labd.conservation_prediction._1.ConScorePrediction;
import example.labd.conservation_prediction._1.MotifMatch;
import example.labd.conservation_prediction._1.PatternResult;
import example.labd.conservation_scorer.ConservationScorer;
import example.labd.conservation_scorer.ConservationScorer_Service;
import example.labd.conservation_scorer.JobIdentifierFaultMessage;
import example.labd.conservation_scorer.ProblemMessage;
import example.labd.conservation_scorer.ScoringModel;
import java.net.URL;
import java.util.Arrays;
import java.util.Collections;
import javax.xml.ws.Holder;

/** The whole conversation with code that wsimport of JAX-WS generates. Arguments: address of the WSDL, sequence, unknown job. */
public class JaxwsClient {
  public static void main(String[] words) throws Exception {
    ConservationScorer service = new ConservationScorer_Service(new URL(words[0])).getConservationScorer();
    String job = service.runJob(
        "A & <B>", words[1], ScoringModel.DISCONTINUOUS, Arrays.asList("L.C.E", "W{3}"), Arrays.asList("LIG_SH3_1"));
    Holder<String> status = new Holder<>();
    do {
      Thread.sleep(20);
      service.getStatus(job, status, new Holder<>());
    } while (status.value.equals("queued") || status.value.equals("running"));
    System.out.println("status " + status.value);
    ConScorePrediction found = service.getResult(job);
    System.out.println("query " + found.getQuery().getIdentifier() + " " + found.getQuery().getSequenceLength() + " "
        + found.getScoringModel().value());
    for (PatternResult pattern : found.getPattern()) {
      System.out.println("pattern " + pattern.getExpression() + " " + pattern.getMatchCount());
      for (MotifMatch match : pattern.getMotifMatch())
        System.out.println("match " + match.getFirstResidue() + " " + match.getLastResidue() + " " + match.getMatchedText());
    }
    try {
      service.getStatus(words[2], status, new Holder<>());
    } catch (JobIdentifierFaultMessage fault) {
      System.out.println("fault Client " + fault.getFaultInfo().getFaultDescription());
    }
    try {
      service.runJob("x", "acgt", ScoringModel.CONTINUOUS, Collections.<String>emptyList(), Collections.<String>emptyList());
    } catch (ProblemMessage problem) {
      System.out.println("refused Client " + problem.getFaultInfo().getCode());
    }
  }
}
