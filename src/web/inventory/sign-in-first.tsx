import type { ComponentChildren } from "preact";
import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { useSession } from "../session.ts";

/** Shows the content to signed-in users, and a link to sign in to others. */
export function SignInFirst({ to, children }: { to: string; children: ComponentChildren }) {
  const session = useSession();
  if (session) return <>{children}</>;
  if (session === undefined) return null;
  const here = typeof location === "undefined" ? undefined : location.pathname + location.search;
  return (
    <Banner tone="warn">
      <a href={href("/sign-in", { next: here })}>Sign in</a> to {to}.
    </Banner>
  );
}
