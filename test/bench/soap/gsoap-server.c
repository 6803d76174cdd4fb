/* The same service by gSOAP: as many threads as connections; it stores nothing and checks no facet. */
#include "ConservationScorerBinding.nsmap"
#include "soapH.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 16

int __ns1__RunJob(struct soap *soap, struct _ns1__RunJob *asked, struct _ns1__RunJobResponse *answer) {
  static __thread unsigned count;
  char *name = (char *)soap_malloc(soap, 64);
  snprintf(name, 64, "%08x-0000-4000-8000-%012lx", ++count, (unsigned long)pthread_self() & 0xffffffffffff);
  answer->JobIdentifier = name;
  return asked->querySequence ? SOAP_OK : SOAP_ERR;
}

int __ns1__GetStatus(struct soap *soap, struct _ns1__GetStatus *asked, struct _ns1__GetStatusResponse *answer) {
  (void)soap;
  answer->Status = "finished";
  answer->StatusDetails = "Took 0.01 s; GetResult has the prediction.";
  return asked->JobIdentifier ? SOAP_OK : SOAP_ERR;
}

int __ns1__GetResult(struct soap *soap, struct _ns1__GetResult *asked, struct _ns1__GetResultResponse *answer) {
  (void)soap, (void)asked, (void)answer;
  return SOAP_ERR;
}

static struct soap *master;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

static void *serve(void *unused) {
  struct soap *soap = soap_copy(master);
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&door);
    soap->master = master->master;
    soap_accept(soap);
    pthread_mutex_unlock(&door);
    soap_serve(soap);
    soap_destroy(soap);
    soap_end(soap);
  }
  return NULL;
}

int main(void) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  int i;
  master = soap_new2(SOAP_IO_KEEPALIVE | SOAP_C_UTFSTRING, SOAP_IO_KEEPALIVE | SOAP_C_UTFSTRING);
  master->max_keep_alive = 2000000000;
  master->bind_flags = SO_REUSEADDR;
  if (!soap_valid_socket(soap_bind(master, "127.0.0.1", 0, 128))) return 1;
  getsockname(master->master, (struct sockaddr *)&address, &length);
  printf("serves http://127.0.0.1:%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (i = 0; i < THREADS; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, serve, NULL);
  }
  pthread_join(pthread_self(), NULL);
  for (;;) pause();
}
