import type { Accounts } from "../accounts/accounts.ts";
import { makeGuards } from "../accounts/guards.ts";
import { makeOwnership } from "../accounts/owner.ts";
import { identifyCaller } from "../platform/caller.ts";
import { EventStreams } from "../platform/event-streams.ts";
import { mount } from "../platform/mount.ts";
import { taskOperations } from "./task-operations.ts";
import type { Tasks } from "./tasks.ts";

/** The routes below `/api/tasks/`, and the end of their streams of events, which would keep a stopping server waiting. */
export function openTaskRoutes(tasks: Tasks, accounts: Accounts) {
  const events = new EventStreams();
  tasks.changed = () => events.checkSoon();
  const dependencies = {
    tasks,
    events,
    ownership: makeOwnership(accounts),
    identifyClient: (request: Request) => identifyCaller(request, accounts),
  };
  return {
    routes: mount(taskOperations, { tag: "service", guards: makeGuards(accounts), dependencies }),
    closeStreams: () => events.close(),
  };
}
