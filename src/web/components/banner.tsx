import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { href } from "../address.ts";
import { ApiError } from "../request.ts";
import { Button, LinkButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

const ICON_OF = { ok: "circle-check", warn: "triangle-alert", danger: "circle-alert" } as const;

/** A message that stays on the page. */
export function Banner(props: {
  tone: keyof typeof ICON_OF;
  children: ComponentChildren;
  role?: "status" | "alert";
}) {
  return (
    <div class={`banner banner-${props.tone}`} role={props.role}>
      <Icon name={ICON_OF[props.tone]} />
      <div class="grow">{props.children}</div>
    </div>
  );
}

/** An error and the next step. It is announced, and takes the focus when `focus` is set. */
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
  const apiError = error instanceof ApiError ? error : undefined;
  const isSignedOut = apiError?.status === 401;
  return (
    <div class="banner banner-danger" role="alert" tabIndex={-1} ref={box}>
      <Icon name="circle-alert" />
      <div class="grow">
        <p>
          <strong>{isSignedOut ? "Sign in to see this page." : (error as Error).message}</strong>
        </p>
        <p>{nextStep(apiError)}</p>
      </div>
      {isSignedOut ? (
        <LinkButton href={href("/sign-in", { next: here() })}>Sign in</LinkButton>
      ) : (
        retry && <Button onClick={retry}>Try again</Button>
      )}
    </div>
  );
}

const here = (): string | undefined =>
  typeof location === "undefined" ? undefined : location.pathname + location.search;

const CORRECT = "Correct it and try again.";

const NEXT_STEPS: Readonly<Record<number, string>> = {
  0: "Check your connection to the laboratory's network. Your input is still here.",
  400: CORRECT,
  401: "You will return to this page.",
  403: "Ask an administrator for access.",
  404: "The record may have been deleted, it may not be shared with you, or the link may be incomplete.",
  // The message says why.
  409: "",
  410: "It has expired. Create it again.",
  412: "Another user has changed the record. Reload the page to see the current version.",
  413: CORRECT,
  415: CORRECT,
};

function nextStep(error: ApiError | undefined): string {
  if (!error) return "This is a bug in the page. Reload it; if that does not help, tell an administrator.";
  // The message says why, and whom to ask.
  if (error.status === 403 && error.body.reason !== undefined) return "";
  if (error.code === "content_damaged") return "";
  if (error.status === 429 || error.status === 503)
    return `Try again ${error.retryAfter ? `in ${error.retryAfter} seconds` : "in a few minutes"}.`;
  return (
    NEXT_STEPS[error.status] ?? "Try again. If it fails again, tell an administrator: the log has details."
  );
}
