import { useState } from "preact/hooks";
import { ErrorBanner } from "./error-banner.tsx";
import { ApiError } from "../request.ts";

/** What is sent by a form or a button: once at a time, and what was refused stays shown until it is done. */
export interface Submission {
  submit: (event?: Event) => void;
  busy: boolean;
  /** What is wrong with each field. */
  fields: ApiError["fields"];
  error: unknown;
}

/** @param work may throw what was refused; true where the page is left, so that nobody sends it again meanwhile */
export function useSubmission(work: () => Promise<boolean | void>): Submission {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      const isLeaving = await work();
      setError(null);
      setBusy(isLeaving === true);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return {
    submit(event) {
      event?.preventDefault();
      if (!busy) void run();
    },
    busy,
    fields: error instanceof ApiError ? error.fields : {},
    error,
  };
}

/** What was refused and is shown at no field. */
export function FormError({ of: { error, fields }, focus }: { of: Submission; focus?: boolean }) {
  return error !== null && Object.keys(fields).length === 0 ? (
    <ErrorBanner error={error} {...(focus ? { focus } : {})} />
  ) : null;
}
