import { join } from "node:path";
import type { SignedIn } from "../../platform/actor.ts";
import { type AdministrationContext, startTask } from "./context.ts";
import type { Outcome, Report } from "../../tasks/task.ts";
import { type AdministrationTask, administrationTask } from "./tasks.ts";
import { requireSpace, streamToDisk } from "./upload.ts";

/**
 * Starts a task on an uploaded file, and responds when the upload is on the disk. The file is removed afterwards.
 * @throws Problem conflict where a task of the kind runs, too_large, malformed
 */
export async function startUpload(
  context: AdministrationContext,
  upload: { actor: SignedIn; request: Request; kind: AdministrationTask; name: string },
  work: (path: string, report: Report) => Promise<Outcome>,
) {
  const { actor, request, kind, name } = upload;
  context.tasks.requireTurn(administrationTask(kind));
  const uploads = join(context.dataDirectory, "uploads");
  const length = request.headers.get("content-length");
  const declared = length === null ? null : Number(length);
  requireSpace(uploads, declared);
  const path = join(uploads, `${context.clock.newId()}.upload`);
  const arrived = Promise.withResolvers<void>();
  const task = startTask(context, actor, kind, name, async (report) => {
    try {
      const streaming = streamToDisk(request, path, declared, report);
      streaming.then(arrived.resolve, arrived.reject);
      await streaming;
      report.at(0);
      return await work(path, report);
    } finally {
      await Bun.file(path)
        .delete()
        .catch(() => {});
    }
  });
  await arrived.promise;
  return task;
}
