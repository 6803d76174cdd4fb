import { join } from "node:path";
import { makeGuards } from "../../accounts/guards.ts";
import { mount } from "../../platform/mount.ts";
import type { AdministrationContext } from "./context.ts";
import { corpusOperations, motifClassOperations } from "./corpus-routes.ts";
import { featureOperations } from "./feature-routes.ts";
import { jobOperations } from "./job-routes.ts";
import { buildOperations } from "./proteome-routes.ts";
import { backupOperations, healthOperations, taskOperations } from "./service-routes.ts";
import { learnClassesWhenStale } from "./learn-classes.ts";
import { ADMINISTRATION_TASKS, administrationTask } from "./tasks.ts";
import { sweepUploads } from "./upload.ts";

/** Corpora, motif classes, features, jobs, backups, health and tasks, for administrators. */
export const administrationOperations = [
  ...corpusOperations,
  ...motifClassOperations,
  ...featureOperations,
  ...buildOperations,
  ...jobOperations,
  ...backupOperations,
  ...healthOperations,
  ...taskOperations,
];

export function administrationRoutes(context: AdministrationContext) {
  sweepUploads(join(context.dataDirectory, "uploads"));
  for (const name of ADMINISTRATION_TASKS) context.tasks.register(administrationTask(name));
  learnClassesWhenStale(context);
  return mount(administrationOperations, {
    tag: "administration",
    guards: makeGuards(context.accounts),
    dependencies: context,
  });
}
