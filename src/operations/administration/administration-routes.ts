import { join } from "node:path";
import { Elysia } from "elysia";
import type { AdministrationContext } from "./context.ts";
import { corpusRoutes, motifClassRoutes } from "./corpus-routes.ts";
import { featureRoutes } from "./feature-routes.ts";
import { proteomeRoutes } from "./proteome-routes.ts";
import { backupRoutes, healthRoutes, jobRoutes, taskRoutes } from "./service-routes.ts";
import { ADMINISTRATION_TASKS, administrationTask } from "./tasks.ts";
import { sweepUploads } from "./upload.ts";

/** Corpora, motif classes, features, jobs, backups, health and tasks, for administrators. */
export function administrationRoutes(context: AdministrationContext) {
  sweepUploads(join(context.dataDirectory, "uploads"));
  for (const name of ADMINISTRATION_TASKS) context.tasks.register(administrationTask(name));
  return new Elysia({ name: "administration" })
    .use(corpusRoutes(context))
    .use(motifClassRoutes(context))
    .use(featureRoutes(context))
    .use(proteomeRoutes(context))
    .use(jobRoutes(context))
    .use(backupRoutes(context))
    .use(healthRoutes(context))
    .use(taskRoutes(context));
}
