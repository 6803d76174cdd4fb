import { pick } from "../../scoring/contract/random-message.ts";
import { E7, element, runJobMessage } from "../../executable/labd.ts";
import type { Account, KnownJob } from "./ledger.ts";
import { type Answer, json, judge, type Lane, send, wrong } from "./wire.ts";

/** Lanes that score, read and sign in. */

export const PATTERNS = ["L.C.E", "[ST]P", "D[DE]E", "C..C"];
const SOAP = "/soap/ConservationScorer";
const XML = { "Content-Type": "text/xml; charset=utf-8" };

/** Submits jobs over both faces, watches, fetches, calls some off, and sends some that are refused. */
export async function score(lane: Lane, jobs: KnownJob[]): Promise<void> {
  const { next, name } = lane;
  let submitted = 0;
  const own: KnownJob[] = [];
  const submit = async (): Promise<void> => {
    const number = submitted++;
    // Few questions are asked by many, so that answers are shared; the others are asked once.
    const tail =
      next() < 0.3 ? "" : Array.from({ length: 6 }, () => pick(next, [..."ACDEFGHIKLMNPQRSTVWY"])).join("");
    const asked = { name: `${name}-${number}`, sequence: E7 + tail, pattern: pick(next, PATTERNS) };
    const isSoap = next() < 0.5;
    const answer = isSoap
      ? await send(
          lane,
          "POST",
          SOAP,
          runJobMessage({ sequence: asked.sequence, patterns: [asked.pattern] }),
          XML,
        )
      : await send(lane, "POST", "/api/scoring/jobs", {
          identifier: "test",
          querySequence: asked.sequence,
          patterns: [asked.pattern],
        });
    const outcome = judge(lane, isSoap ? "RunJob" : "submit a job", answer, isSoap ? [200] : [202]);
    if (outcome !== "accepted") return;
    const id = isSoap ? element(answer!.text, "JobIdentifier")! : (json(answer!).id as string);
    const job: KnownJob = { id, ...asked, cancelled: "no", seen: null };
    jobs.push(job);
    own.push(job);
    if (own.length > 30) own.shift();
  };
  const soap = (operation: string, job: KnownJob): Promise<Answer | null> =>
    send(lane, "POST", SOAP, askMessage(operation, job.id), XML);
  const watch = async (): Promise<void> => {
    if (own.length === 0) return;
    const job = pick(next, own);
    const isSoap = next() < 0.5;
    const answer = isSoap
      ? await soap("GetStatus", job)
      : await send(lane, "GET", `/api/scoring/jobs/${job.id}`);
    judge(lane, isSoap ? "GetStatus" : "ask for a job", answer, [200]);
  };
  const fetchResult = async (): Promise<void> => {
    if (own.length === 0) return;
    const job = pick(next, own);
    if (next() < 0.3) {
      judge(lane, "GetResult", await soap("GetResult", job), job.cancelled === "no" ? [200] : [200, 500]);
      return;
    }
    const answer = await send(lane, "GET", `/api/scoring/jobs/${job.id}/result?format=tsv`);
    // 409: it has not ended, or was cancelled.
    if (judge(lane, "fetch a result", answer, [200, 409]) !== "accepted") return;
    if (job.seen !== null && job.seen !== answer!.text)
      wrong(lane, "fetch a result", `${job.id} has changed: ${answer!.text}`);
    job.seen = answer!.text;
  };
  const cancel = async (): Promise<void> => {
    const job = own.at(-1);
    if (!job || job.seen !== null || job.cancelled !== "no") return;
    const answer = await send(lane, "DELETE", `/api/scoring/jobs/${job.id}`);
    const outcome = judge(lane, "call a job off", answer, [200, 204, 409]);
    if (outcome === "accepted") job.cancelled = "yes";
    else if (outcome === "unknown") job.cancelled = "perhaps";
  };
  const refuse = async (): Promise<void> => {
    const isSoap = next() < 0.5;
    const answer = isSoap
      ? await send(lane, "POST", SOAP, runJobMessage({ sequence: E7, patterns: ["(("] }), XML)
      : await send(lane, "POST", "/api/scoring/jobs", { querySequence: "MK7", patterns: ["A"] });
    if (judge(lane, "refused: a job", answer, isSoap ? [500] : [400]) === "accepted")
      wrong(lane, "refused: a job", "was accepted");
  };
  while (!lane.stopped()) {
    const lot = next();
    if (lot < 0.25) await submit();
    else if (lot < 0.65) await watch();
    else if (lot < 0.9) await fetchResult();
    else if (lot < 0.95) await refuse();
    else await cancel();
    // A processor scores some fifty of these in a second.
    await Bun.sleep(next() * 40);
  }
}

const askMessage = (operation: string, job: string): string => {
  const body = `<JobIdentifier>${job}</JobIdentifier>`;
  return `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${operation} xmlns="http://labd.example/conservation-scorer">${body}</${operation}></s:Body></s:Envelope>`;
};

const READS = [
  "/api/v2/",
  "/api/v2/locations/",
  "/api/v2/locations/?page=2&page_size=20&ordering=-label",
  "/api/v2/locations/?query=soak",
  "/api/v2/locations/?label__startswith=soak-1&fields=id,label,version",
  "/api/v2/locations/?description=text+1&response_format=flat",
  "/api/v2/locations/?deleted=true&page_size=10",
  '/api/v2/locations/?query_expression={"category":"label","operator":"icontains","value":"soak"}&page_size=5',
  "/api/v2/locations/values/?field=label",
  "/api/v2/locations/tree/",
  "/api/v2/changes/?since=0",
  "/api/v2/batches/",
  "/api/v2/users/",
  "/api/v2/tokens/",
  "/api/v2/version/",
  "/api/scoring/motif-classes?query=cyclin",
  "/api/scoring/corpus",
  "/healthz",
  "/readyz",
  "/metrics",
  "/soap/ConservationScorer?wsdl",
  "/",
  "/score",
  "/inventory/locations",
];
/** Files of all that there is: seldom. */
const EXPORTS = [
  "/docs/json",
  "/api/v2/locations/?format=csv&label__startswith=soak-1-r0",
  "/api/v2/locations/?format=xlsx&label__startswith=soak-1-r0-0000",
  "/api/v2/locations/?page_size=max&fields=id,label&label__startswith=soak-1-r0",
];

/** Reads of all kinds. */
export async function read(lane: Lane): Promise<void> {
  const { next } = lane;
  while (!lane.stopped()) {
    const isExport = next() < 0.01;
    const path = pick(next, isExport ? EXPORTS : READS);
    const answer = await send(lane, "GET", path, undefined, next() < 0.2 ? { Accept: "text/html, */*" } : {});
    // 404: there may be no second page yet.
    judge(lane, isExport ? "export" : `read ${path.slice(0, 40)}`, answer, [200, 404]);
    await Bun.sleep(next() * 6);
  }
}

/** Signs in, rightly and wrongly. */
export async function signIn(lane: Lane, kept: Pick<Account, "tokens" | "failedSignIns">): Promise<void> {
  const { next, config } = lane;
  const { username, password } = config;
  // Nor may an address fail a hundred times.
  const elsewhere = () => ({
    "X-Forwarded-For": `10.2.${Math.floor(next() * 256)}.${Math.floor(next() * 256)}`,
  });
  while (!lane.stopped()) {
    const lot = next();
    // No account may fail ten times in five minutes: wrong names are names of nobody.
    const isRight = lot < 0.6;
    const name = isRight ? username : `nobody-${config.number}-${Math.floor(next() * 1e9)}`;
    if (lot < 0.3 || !isRight) {
      const answer = await send(
        lane,
        "POST",
        "/api/v2/token-auth/",
        { username: name, password: isRight ? password : "not the password" },
        { Authorization: "", ...elsewhere() },
      );
      const what = isRight ? "sign in" : "sign in wrongly";
      const outcome = judge(lane, what, answer, isRight ? [200] : [401]);
      if (isRight && outcome === "accepted") kept.tokens.push(json(answer!).token);
      if (!isRight) {
        const of = (kept.failedSignIns[name] ??= { sure: 0, perhaps: 0 });
        if (outcome === "refused" && answer!.status === 401) of.sure++;
        else if (outcome === "unknown") of.perhaps++;
      }
    } else {
      const basic = `Basic ${btoa(`${username}:${password}`)}`;
      const answer = await send(lane, "GET", "/api/v2/tokens/", undefined, {
        Authorization: basic,
        ...elsewhere(),
      });
      judge(lane, "read by password", answer, [200]);
    }
    await Bun.sleep(100 + next() * 300);
  }
}
