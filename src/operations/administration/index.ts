import { join } from "node:path";
import type { AdministrationContext } from "./administered.ts";
import { corpusEndpoints, motifEndpoints } from "./corpora.ts";
import type { Endpoint } from "../../accounts/endpoint.ts";
import { requireAdministrator } from "../../accounts/route-guards.ts";
import { farmEndpoints } from "./farm.ts";
import { backupEndpoints, healthEndpoints, jobEndpoints } from "./operation.ts";
import { endpointRoutes } from "./route.ts";
import { sweepUploads } from "./upload.ts";

export { UPLOADS } from "./route.ts";
export { Tasks } from "./tasks.ts";

export function administrationRoutes(administered: AdministrationContext): ReturnType<typeof endpointRoutes> {
  sweepUploads(join(administered.dataDirectory, "uploads"));
  return endpointRoutes(serviceEndpoints(administered));
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
