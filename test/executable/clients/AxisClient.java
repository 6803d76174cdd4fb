import example.labd.conservation_prediction._1.ConScorePrediction;
import example.labd.conservation_prediction._1.MotifMatch;
import example.labd.conservation_prediction._1.PatternResult;
import example.labd.conservation_scorer.ConservationScorer_PortType;
import example.labd.conservation_scorer.ConservationScorer_ServiceLocator;
import example.labd.conservation_scorer.JobIdentifierFault;
import example.labd.conservation_scorer.ScoringModel;
import example.labd.problem._1.Problem;
import java.net.URL;
import javax.xml.rpc.holders.StringHolder;

/** The whole conversation with code that Axis 1.4 generates from the WSDL. Arguments: endpoint, sequence, unknown job. */
public class AxisClient {
  public static void main(String[] words) throws Exception {
    ConservationScorer_PortType service =
        new ConservationScorer_ServiceLocator().getConservationScorer(new URL(words[0]));
    String[] expressions = {"L.C.E", "W{3}"};
    String[] names = {"LIG_SH3_1"};
    String job = service.runJob("A & <B>", words[1], ScoringModel.discontinuous, expressions, names);
    StringHolder status = new StringHolder();
    do {
      Thread.sleep(20);
      service.getStatus(job, status, new StringHolder());
    } while (status.value.equals("queued") || status.value.equals("running"));
    System.out.println("status " + status.value);
    ConScorePrediction found = service.getResult(job);
    System.out.println("query " + found.getQuery().getIdentifier() + " " + found.getQuery().getSequenceLength() + " "
        + found.getScoringModel());
    for (PatternResult pattern : found.getPattern()) {
      System.out.println("pattern " + pattern.getExpression() + " " + pattern.getMatchCount());
      if (pattern.getMotifMatch() == null) continue;
      for (MotifMatch match : pattern.getMotifMatch())
        System.out.println("match " + match.getFirstResidue() + " " + match.getLastResidue() + " " + match.getMatchedText());
    }
    try {
      service.getStatus(words[2], status, new StringHolder());
    } catch (JobIdentifierFault fault) {
      System.out.println("fault " + fault.getFaultCode().getLocalPart() + " " + fault.getFaultDescription());
    }
    try {
      service.runJob("x", "acgt", ScoringModel.continuous, new String[0], new String[0]);
    } catch (Problem problem) {
      System.out.println("refused " + problem.getFaultCode().getLocalPart() + " " + problem.getCode());
    }
  }
}
