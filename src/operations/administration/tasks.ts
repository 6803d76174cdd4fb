import type { TaskKind } from "../../tasks/task.ts";

/** Work that administrators start, and its title on pages. A kind is one line here. */
const TITLES = {
  "corpus-add": "Adding",
  "corpus-verify": "Verifying",
  "features-add": "Importing",
  "features-learn": "Learning",
  backup: "Backup",
  "backup-verify": "Verifying",
  examination: "System check",
} as const;
export type AdministrationTask = keyof typeof TITLES;
export const ADMINISTRATION_TASKS = Object.keys(TITLES) as AdministrationTask[];

/** One of a kind runs at a time. None continues after a restart: uploads and child processes end with the server. */
export const administrationTask = (name: AdministrationTask): TaskKind => ({
  name,
  title: TITLES[name],
  readers: "owner",
  whileRunning: "refuse",
  keep: { inAll: 50 },
  path: (id) => `/api/admin/tasks/${id}`,
  audit: {
    start: "task.start",
    cancel: "task.cancel",
    subject: "task",
    // Audit entries of commands name the system's account, on behalf of the user who started the task.
    detail: ({ kind, subject }) => ({ kind, subject }),
  },
});
