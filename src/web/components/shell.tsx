import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Reauthentication } from "../account/reauthentication.tsx";
import { useScanAnywhere } from "../inventory/scan-anywhere.ts";
import { SharingConfirmation } from "../inventory/sharing-confirmation.tsx";
import { href } from "../address.ts";
import { OfflineStatus } from "../offline/status.tsx";
import { waitingChanges } from "../offline/device.ts";
import { SearchButton } from "../search/search-dialog.tsx";
import { signOut, useSession } from "../session.ts";
import { Button, LinkButton } from "./button.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { findHelp } from "../help-topics.ts";
import { confirm, ConfirmDialog } from "./confirm.tsx";
import { DeveloperLinks } from "./developer-menu.tsx";
import { type Answer, call } from "../request.ts";
import { Icon, type IconName, LOGO } from "./icon.tsx";
import { Avatar } from "./layout.tsx";
import { useLoaded } from "./loaded.tsx";
import { Menu } from "./menu.tsx";
import { Toasts, withErrorToast } from "./toast.tsx";

interface Link {
  name: string;
  path: string;
  icon: IconName;
  /** Shown to administrators only. */
  adminOnly?: true;
  /** The number beside the name. */
  count?: keyof Counts;
}
type Counts = Answer<"GET /api/scoring/counts">;
/** Results are counted up to this number. */
const MAX_COUNTED = 1000;

/** The rail on the left. */
const RAIL: readonly { title?: string; links: readonly Link[] }[] = [
  { links: [{ name: "Home", path: "/", icon: "house" }] },
  {
    title: "Motif scoring",
    links: [
      { name: "Score a protein", path: "/score", icon: "crosshair" },
      { name: "Results", path: "/results", icon: "list-checks", count: "results" },
      { name: "Scan a protein", path: "/scan", icon: "scan-search" },
      { name: "Search a proteome", path: "/proteome", icon: "dna" },
      { name: "Proteins", path: "/proteins", icon: "file-text", count: "proteins" },
      { name: "Motif classes", path: "/classes", icon: "bookmark", count: "motifClasses" },
    ],
  },
  {
    title: "Inventory",
    links: [
      { name: "Overview", path: "/inventory", icon: "layout-list" },
      { name: "Consumables", path: "/inventory/stocks-consumables", icon: "flask-conical" },
      { name: "Specimens", path: "/inventory/stocks-specimen", icon: "test-tubes" },
      { name: "Running out", path: "/inventory/running-out", icon: "shopping-cart" },
      { name: "Storage", path: "/inventory/storage", icon: "refrigerator" },
      { name: "Stocktakes", path: "/inventory/stocktakes", icon: "clipboard-check" },
    ],
  },
  {
    title: "Setup",
    links: [
      { name: "Fields", path: "/inventory/annotationtypes", icon: "tags" },
      { name: "Choice lists", path: "/inventory/vocabularies-categories", icon: "list-checks" },
      { name: "Administration", path: "/administration", icon: "settings", adminOnly: true },
    ],
  },
];
const HELP_LINK: Link = { name: "Help", path: "/help", icon: "book-open" };

/** The bar at the foot of small screens. */
const BOTTOM_BAR: readonly Link[] = [
  { name: "Home", path: "/", icon: "house" },
  { name: "Scoring", path: "/score", icon: "crosshair" },
  { name: "Inventory", path: "/inventory", icon: "flask-conical" },
  { name: "Scan code", path: "/inventory/scan", icon: "scan-line" },
];
/** All other pages, in a menu of the bar. */
const MORE_LINKS: readonly Link[] = [...RAIL.flatMap(({ links }) => links), HELP_LINK].filter(({ path }) =>
  BOTTOM_BAR.every((link) => link.path !== path),
);

/** Pages that belong to a link whose path they do not begin with; after a slash, only those below. */
const ALIASES: Readonly<Record<string, string>> = {
  "/score/": "/results",
  "/batch/": "/results",
  "/batch": "/score",
  "/changes": "/results",
  "/scans": "/scan",
  "/inventory/stocktake": "/inventory/stocktakes",
  "/inventory/locations": "/inventory/storage",
  "/inventory/equipment": "/inventory/storage",
  "/inventory/stocks-orders": "/inventory/running-out",
  "/inventory/stocks-products": "/inventory/running-out",
  "/inventory/places": "/inventory/storage",
  "/inventory/addresses": "/inventory/storage",
  "/inventory/build": "/inventory/storage",
  "/inventory/custompropertytypes": "/inventory/annotationtypes",
  "/inventory/fieldmeta": "/inventory/annotationtypes",
  "/inventory/codepatterns": "/inventory/annotationtypes",
  "/inventory/vocabularies-terms": "/inventory/vocabularies-categories",
  "/docs": "/help",
  "/clients": "/help",
};

/** The link that a page belongs to: the one with the longest path that the page's path begins with. */
function findCurrent(links: readonly Link[], path: string): Link | undefined {
  const alias = Object.keys(ALIASES).find(
    (prefix) => path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`),
  );
  const effective = alias === undefined ? path : ALIASES[alias];
  return links
    .filter((link) => effective === link.path || (link.path !== "/" && effective.startsWith(`${link.path}/`)))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** The navigation, the account, and what opens above a page. */
export function Shell(props: { path: string; search: URLSearchParams; children: ComponentChildren }) {
  const { path, search, children } = props;
  const current = findCurrent(
    RAIL.flatMap(({ links }) => links),
    path,
  );
  const section = RAIL.find(({ links }) => links.some((link) => link === current))?.links;
  const currentBelow =
    BOTTOM_BAR.find((link) => link.path === path) ??
    BOTTOM_BAR.find((link) => section?.some((one) => one.path === link.path));
  const isAdministrator = useSession()?.user.is_superuser === true;
  const counts = useCounts();
  const isShown = (link: Link): boolean => !link.adminOnly || isAdministrator || link === current;
  useScanAnywhere();
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <div class="app">
        <nav class="rail" aria-label="Main">
          <Brand />
          {RAIL.map(({ title, links }) => (
            <div key={title}>
              {title && <p class="rail-head">{title}</p>}
              <ul>
                {links.filter(isShown).map((link) => (
                  <RailLink
                    key={link.path}
                    link={link}
                    isCurrent={link === current}
                    count={link.count && counts?.[link.count]}
                  />
                ))}
              </ul>
            </div>
          ))}
          <ul class="rail-foot">
            <RailLink link={HELP_LINK} isCurrent={findCurrent([HELP_LINK], path) !== undefined} />
          </ul>
        </nav>
        <header class="topbar">
          <Brand />
          <SearchButton />
          <div class="topbar-end">
            <span class="developer">
              <Menu label="Developer" icon="braces">
                <DeveloperLinks path={path} search={search} />
              </Menu>
            </span>
            <LinkButton look="quiet" icon="book-open" aria-label="Help" href={href(findHelp(path))} />
            <LinkButton
              look="quiet"
              icon="scan-line"
              aria-label="Scan a code"
              href={href("/inventory/scan")}
            />
            <Account path={path} />
          </div>
        </header>
        <main id="content" tabIndex={-1}>
          {path !== "/inventory/offline" && <OfflineStatus />}
          {children}
        </main>
        <nav class="bottombar" aria-label="Main, small screens">
          {BOTTOM_BAR.map((link) => (
            <a
              key={link.path}
              href={href(link.path)}
              aria-current={link === currentBelow ? "true" : undefined}
            >
              <Icon name={link.icon} />
              {link.name}
            </a>
          ))}
          <button type="button" popovertarget="more-pages">
            <Icon name="menu" />
            More
          </button>
          <div id="more-pages" class="menu-body" popover="auto">
            {MORE_LINKS.filter(isShown).map((link) => (
              <a key={link.path} href={href(link.path)} aria-current={link === current ? "true" : undefined}>
                <Icon name={link.icon} />
                {link.name}
              </a>
            ))}
            <p class="rail-head">Developer</p>
            <DeveloperLinks path={path} search={search} />
          </div>
        </nav>
      </div>
      <ConfirmDialog />
      <Reauthentication />
      <SharingConfirmation />
      <Toasts />
    </>
  );
}

const Brand = () => (
  <a class="brand" href={href("/")} aria-label="labd, home">
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" />
      <path d={LOGO} />
    </svg>
    <span>labd</span>
  </a>
);

/** The numbers beside the links, once the session is known, which decides about the results. */
function useCounts(): Counts | undefined {
  const session = useSession();
  const key = session === undefined ? null : (session?.user.id ?? "");
  return useLoaded(key, (signal) => call("GET /api/scoring/counts", { signal })).value;
}

const RailLink = (props: { link: Link; isCurrent: boolean; count?: number | undefined }) => {
  const { link, isCurrent, count } = props;
  return (
    <li>
      <a
        class="rail-link"
        href={href(link.path)}
        title={link.name}
        aria-current={isCurrent ? "true" : undefined}
      >
        <Icon name={link.icon} />
        <span>{link.name}</span>
        {count !== undefined && count > 0 && (
          <span class="count">
            {count < MAX_COUNTED || link.path !== "/results" ? formatCount(count) : "999+"}
          </span>
        )}
      </a>
    </li>
  );
};

/** The account that is signed in, with links to sign in or out. */
function Account({ path }: { path: string }) {
  const session = useSession();
  const mustEnrol = session?.needs_second_factor === true && path !== "/second-factor";
  useEffect(() => {
    if (!mustEnrol) return;
    const next = path === "/sign-in" ? undefined : location.pathname + location.search;
    // `replace`, so that the back button does not lead here again.
    location.replace(href("/second-factor", { next }));
  }, [mustEnrol]);
  const leave = async (): Promise<void> => {
    await signOut();
    // Otherwise the next person at a shared computer could enter through the provider's session.
    if (session?.vouched) location.assign(href("/api/oidc/sign-out"));
    else location.reload();
  };
  const confirmLeaving = async (): Promise<void> => {
    const { length } = await waitingChanges(session!.user.id);
    if (length === 0) return leave();
    confirm({
      title: "Sign out",
      text: `${pluralize(length, "change")} on this device have not been sent. They will be discarded.`,
      verb: "Discard and sign out",
      run: leave,
    });
  };
  if (session === undefined) return null;
  if (session === null)
    return path === "/sign-in" ? null : (
      <LinkButton look="quiet" href={href("/sign-in", { next: path === "/" ? undefined : href(path) })}>
        Sign in
      </LinkButton>
    );
  const name = String(session.user.full_name || session.user.username);
  return (
    <>
      <a class="btn btn-quiet" href={href("/profile")}>
        <Avatar name={name} />
        <span class="account-name">{name}</span>
      </a>
      <Button
        look="quiet"
        icon="log-out"
        aria-label="Sign out"
        onClick={() => void withErrorToast(confirmLeaving)}
      />
    </>
  );
}
