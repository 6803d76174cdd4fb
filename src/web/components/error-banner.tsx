import { useEffect, useRef } from "preact/hooks";
import { href } from "../address.ts";
import { ApiError } from "../request.ts";
import { Button } from "./button.tsx";

/** What went wrong and what to do next. It is read out, and takes the focus when `focus` is set. */
export function ErrorBanner({
  error,
  retry,
  focus,
}: {
  error: unknown;
  retry?: () => void;
  focus?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus) box.current?.focus();
  }, [focus, error]);
  const refusal = error instanceof ApiError ? error : undefined;
  const next = nextStep(refusal);
  return (
    <div class="failure" role="alert" tabIndex={-1} ref={box}>
      <p>
        <strong>
          {refusal?.status === 401 ? "This is for those who are signed in." : (error as Error).message}
        </strong>
      </p>
      {next !== "" && <p>{next}</p>}
      {refusal?.status === 401 ? (
        <a class="button" href={href("/sign-in", { next: here() })}>
          Sign in
        </a>
      ) : (
        retry && <Button onClick={retry}>Try again</Button>
      )}
    </div>
  );
}

const here = (): string | undefined =>
  typeof location === "undefined" ? undefined : location.pathname + location.search;

function nextStep(refusal: ApiError | undefined): string {
  switch (refusal?.status) {
    case undefined:
      return "This is a defect of the page. Load it again; if that does not help, tell whoever runs this server.";
    case 0:
      return "Check the connection to the laboratory's network. What you typed is still here.";
    case 401:
      return "Sign in, and you come back to this page.";
    case 403:
      // Who is let in by nobody is told all of it already.
      if (refusal.body.reason !== undefined) return "";
      return "Your account may not do this. An administrator can give you the right.";
    case 404:
      return "It may have been removed, or the link may be incomplete.";
    case 409:
    case 412:
      return "Somebody else has changed it in the meantime. Load it again to see how it is now.";
    case 410:
      return "It was kept for a while and has been removed since. It can be made again.";
    case 429:
    case 503:
      return refusal?.retryAfter
        ? `Try again in ${refusal.retryAfter} seconds.`
        : "Try again in a little while.";
    case 400:
    case 413:
    case 415:
      return "Correct it and send it again.";
    default:
      return "Try again. If it happens again, tell whoever runs this server; its log says more.";
  }
}
