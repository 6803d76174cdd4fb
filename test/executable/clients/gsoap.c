/* The whole conversation with code that gSOAP generates from the WSDL. Arguments: endpoint, sequence, unknown job. */
#include "ConservationScorerBinding.nsmap"
#include "soapH.h"
#include <string.h>
#include <unistd.h>

static int failed(struct soap *soap) {
  soap_print_fault(soap, stderr);
  return 1;
}

static const char *code(struct soap *soap) {
  const char *name = *soap_faultcode(soap);
  const char *colon = strrchr(name, ':');
  return colon ? colon + 1 : name;
}

int main(int count, char **words) {
  struct soap *soap = soap_new1(SOAP_XML_STRICT);
  struct _ns1__RunJob run;
  struct _ns1__RunJobResponse accepted;
  struct _ns1__GetStatus ask;
  struct _ns1__GetStatusResponse status;
  struct _ns1__GetResult want;
  struct _ns1__GetResultResponse result;
  struct ns2__ConScorePrediction *found;
  char *expressions[] = {"L.C.E", "W{3}"};
  char *names[] = {"LIG_SH3_1"};
  int i, k;
  if (count != 4) return 2;
  memset(&run, 0, sizeof run);
  run.identifier = "A & <B>";
  run.querySequence = words[2];
  run.scoringModel = ns1__ScoringModel__discontinuous;
  run.__sizeregularExpression = 2;
  run.regularExpression = expressions;
  run.__sizeelmIdentifierName = 1;
  run.elmIdentifierName = names;
  if (soap_call___ns1__RunJob(soap, words[1], NULL, &run, &accepted)) return failed(soap);
  ask.JobIdentifier = want.JobIdentifier = soap_strdup(soap, accepted.JobIdentifier);
  do {
    usleep(20000);
    if (soap_call___ns1__GetStatus(soap, words[1], NULL, &ask, &status)) return failed(soap);
  } while (!strcmp(status.Status, "queued") || !strcmp(status.Status, "running"));
  printf("status %s\n", status.Status);
  if (soap_call___ns1__GetResult(soap, words[1], NULL, &want, &result)) return failed(soap);
  found = result.ns2__ConScorePrediction;
  printf("query %s %d %s\n", found->query->identifier, found->query->sequenceLength,
         soap_ns2__AppliedScoringModel2s(soap, found->scoringModel));
  for (i = 0; i < found->__sizepattern; i++) {
    struct ns2__PatternResult *pattern = found->pattern + i;
    printf("pattern %s %d\n", pattern->expression, pattern->matchCount);
    for (k = 0; k < pattern->__sizemotifMatch; k++) {
      struct ns2__MotifMatch *match = pattern->motifMatch + k;
      printf("match %d %d %s\n", match->firstResidue, match->lastResidue, match->matchedText);
    }
  }
  ask.JobIdentifier = words[3];
  if (soap_call___ns1__GetStatus(soap, words[1], NULL, &ask, &status) == SOAP_OK) return 3;
  if (!soap->fault || !soap->fault->detail || !soap->fault->detail->ns1__JobIdentifierFault) return failed(soap);
  printf("fault %s %s\n", code(soap), soap->fault->detail->ns1__JobIdentifierFault->FaultDescription);
  memset(&run, 0, sizeof run);
  run.identifier = "x";
  run.querySequence = "acgt";
  if (soap_call___ns1__RunJob(soap, words[1], NULL, &run, &accepted) == SOAP_OK) return 4;
  if (!soap->fault || !soap->fault->detail || !soap->fault->detail->ns3__problem) return failed(soap);
  printf("refused %s %s\n", code(soap), soap->fault->detail->ns3__problem->code);
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
  return 0;
}
