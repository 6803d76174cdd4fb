import { join } from "node:path";
import type { Identities } from "../../accounts/external/index.ts";
import type { PublicUrlOptions } from "../../platform/origin.ts";
import { accountEndpoints } from "../../accounts/account-routes.ts";
import type { AdministrationContext } from "./administered.ts";
import { corpusEndpoints, motifEndpoints } from "./corpora.ts";
import { type Endpoint, requireAdministrator } from "../../accounts/endpoint.ts";
import { farmEndpoints } from "./farm.ts";
import { identityEndpoints } from "../../accounts/identity-routes.ts";
import { backupEndpoints, healthEndpoints, jobEndpoints } from "./operation.ts";
import { endpointRoutes } from "./route.ts";
import { secondFactorEndpoints } from "../../accounts/second-factor-routes.ts";
import { sweepUploads } from "./upload.ts";

export { linkPurpose, SET_UP_HOURS, setUpPath } from "../../accounts/account-routes.ts";
export { requireAdministrator, requireUser } from "../../accounts/endpoint.ts";
export { UPLOADS } from "./route.ts";
export { Tasks } from "./tasks.ts";

/** What people do with their accounts, and administrators with the service. */
export function administrationRoutes(
  administered: AdministrationContext & {
    reach: PublicUrlOptions;
    identities: Identities;
    settings: Parameters<typeof identityEndpoints>[2];
  },
): ReturnType<typeof endpointRoutes> {
  sweepUploads(join(administered.dataDirectory, "uploads"));
  return endpointRoutes([
    ...accountEndpoints(administered.accounts, administered.reach),
    ...secondFactorEndpoints(administered.accounts, administered.reach),
    ...identityEndpoints(administered.accounts, administered.identities, administered.settings),
    ...serviceEndpoints(administered),
  ]);
}

/** Corpora, motif classes, jobs, backups, health and tasks, for administrators. */
function serviceEndpoints(service: AdministrationContext): Endpoint[] {
  const { accounts } = service;
  const all = [
    ...corpusEndpoints(service),
    ...motifEndpoints(service),
    ...jobEndpoints(service),
    ...farmEndpoints(service),
    ...backupEndpoints(service),
    ...healthEndpoints(service),
  ];
  // Nobody else comes past here, whatever an endpoint forgets.
  for (const { methods } of all)
    for (const method of Object.values(methods)) {
      const { answer } = method;
      method.answer = (ask) => {
        requireAdministrator(accounts, ask.request);
        return answer(ask);
      };
    }
  return all;
}
