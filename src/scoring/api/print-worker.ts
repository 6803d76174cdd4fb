import { Problem } from "../../problem.ts";
import { type AnyTask, printResult } from "./result-format.ts";

/** The text as UTF-8, or why there is none. */
export type PrintReport =
  { bytes: Uint8Array<ArrayBuffer> } | { bytes: null; code: Problem["code"]; message: string; cause: string };

declare const self: Worker;

const post = (report: PrintReport, transfer: Transferable[] = []): void => self.postMessage(report, transfer);

self.addEventListener("message", ({ data }: MessageEvent<AnyTask>) => {
  try {
    const printed = printResult(data);
    const bytes = typeof printed === "string" ? new TextEncoder().encode(printed) : printed;
    post({ bytes }, [bytes.buffer]);
  } catch (error) {
    const { code, message } = Problem.from(error);
    post({ bytes: null, code, message, cause: String(error) });
  }
});
