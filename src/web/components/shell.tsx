import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { href } from "../address.ts";
import { signOut, useSession } from "../session.ts";
import { Toasts, showToast } from "./toast.tsx";

export type Section = "score" | "inventory" | "administration";

const SECTIONS: readonly { section: Section; name: string; path: string }[] = [
  { section: "score", name: "Score", path: "/score" },
  { section: "inventory", name: "Inventory", path: "/inventory" },
  { section: "administration", name: "Administration", path: "/administration" },
];

/** What is around every page: a link past the navigation, the navigation, who is signed in, and what is announced. */
export function Shell(props: { section: Section | null; path: string; children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <header class="bar">
        <a class="brand" href={href("/")}>
          labd
        </a>
        <nav aria-label="Main">
          <ul>
            {SECTIONS.map(({ section, name, path }) => (
              <li key={section}>
                <a href={href(path)} aria-current={section === props.section ? "true" : undefined}>
                  {name}
                </a>
              </li>
            ))}
            <li>
              <a href={href("/docs")}>Documentation</a>
            </li>
          </ul>
        </nav>
        <SignedIn path={props.path} />
      </header>
      <main id="content" tabIndex={-1}>
        {props.children}
      </main>
      <Toasts />
    </>
  );
}

function SignedIn({ path }: { path: string }) {
  const session = useSession();
  const isDue = session?.needs_second_factor === true && path !== "/second-factor";
  useEffect(() => {
    if (!isDue) return;
    const next = path === "/sign-in" ? undefined : location.pathname + location.search;
    // No step to go back to, from where it would lead here again.
    location.replace(href("/second-factor", { next }));
  }, [isDue]);
  const leave = async (): Promise<void> => {
    try {
      await signOut();
      // At a computer of many the next one would come in as the last one, while the provider knows that one.
      if (session?.vouched) location.assign(href("/api/oidc/sign-out"));
      else location.reload();
    } catch (error) {
      showToast((error as Error).message, "bad");
    }
  };
  return (
    <div class="signed-in">
      {session && (
        <>
          <a href={href("/profile")}>{session.user.username}</a>
          <button type="button" class="quiet" onClick={leave}>
            Sign out
          </button>
        </>
      )}
      {session === null && path !== "/sign-in" && (
        <a href={href("/sign-in", { next: path === "/" ? undefined : href(path) })}>Sign in</a>
      )}
    </div>
  );
}
