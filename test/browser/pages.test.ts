import { expect } from "bun:test";
import { LISTS } from "../../src/inventory/resources/lists.ts";
import { pagePath } from "../../src/web/inventory/declaration.ts";
import { PAGES } from "../../src/web/pages.ts";
import { browserTest, openPage } from "./browser.ts";

/** Every list, and every page whose address has no variable parts, on a phone. */

const LIST_PATHS = Object.keys(LISTS).flatMap((segment) =>
  LISTS[segment].section === undefined
    ? []
    : [`${pagePath(segment)}?page=1`, `${pagePath(segment)}/new`, `${pagePath(segment)}/import`],
);
const FIXED_PATHS = PAGES.filter(({ keyed }) => !keyed).flatMap(({ paths }) =>
  paths.filter((path) => !path.includes(":") && !path.startsWith("/help/")),
);

browserTest(
  "pages open on a phone without errors, and none is wider than the window",
  async () => {
    await using opened = await openPage("/", { signedIn: true, width: 360 });
    const { page, url, faults } = opened;
    const found: object[] = [];
    for (const path of [...FIXED_PATHS, ...LIST_PATHS]) {
      await page.goto(url + path);
      await page.waitForFunction(() => !document.querySelector(".skel, main [aria-busy=true]"));
      const shown = await page.evaluate(() => ({
        width: document.documentElement.scrollWidth,
        errors: [...document.querySelectorAll<HTMLElement>(".banner-danger")].map(
          (banner) => banner.innerText,
        ),
      }));
      if (shown.width > 360 || shown.errors.length > 0) found.push({ path, ...shown });
    }
    expect({ found, faults }).toEqual({ found: [], faults: [] });
  },
  240_000,
);
