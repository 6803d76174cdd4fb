import { answerTasks } from "../../platform/thread-queue.ts";
import { type AnyTask, printResult } from "./result-format.ts";

answerTasks(async (task: AnyTask) => {
  const printed = await printResult(task);
  const value = typeof printed === "string" ? new TextEncoder().encode(printed) : printed;
  return { value, transfer: [value.buffer] };
});
