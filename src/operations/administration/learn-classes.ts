import { type AdministrationContext } from "./context.ts";
import { runCommand } from "./self-command.ts";
import { administrationTask } from "./tasks.ts";

/** Milliseconds between looks at features, corpus and classes, which commands may change. */
const INTERVAL = 10_000;
/** The client of tasks that the server starts by itself. */
const SERVER = "user labd";

/**
 * Learns motif classes, in another process, whenever their models do not follow from the features, the corpus and the classes:
 * also after a kill. What failed is not tried again until one of them changes.
 */
export function learnClassesWhenStale(
  { scoring, tasks, dataDirectory }: AdministrationContext,
  interval = INTERVAL,
): void {
  const { learning } = scoring;
  let [seen, tried] = ["", ""];
  const look = (): void => {
    if (learning.isCurrent() || learning.isBusy()) return;
    const inputs = learning.inputs();
    // An import that has just ended begins to learn by itself.
    const isSettled = seen === inputs;
    seen = inputs;
    if (!isSettled || tried === inputs) return;
    tried = inputs;
    tasks.start(
      administrationTask("features-learn"),
      { subject: "motif classes", client: SERVER },
      async (_, report) => {
        await runCommand(["features", "learn", "--progress", "--data-dir", dataDirectory], report);
        const learned = scoring.classModels.learning()?.reports.filter(({ reason }) => reason === null) ?? [];
        return { message: `Motif classes with a model: ${learned.length}.` };
      },
    );
  };
  const timer = setInterval(() => {
    try {
      look();
    } catch {
      // The service stops, or the database is busy.
    }
  }, interval);
  timer.unref();
}
