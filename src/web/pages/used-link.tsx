import { UsedLink } from "../account/used-link.tsx";
import { definePage } from "../page.tsx";

/** Shown for a key that opens nothing; it has no path. */
export const usedLinkPage = definePage({
  name: "used-link",
  paths: [],
  title: "Used link",
  View: UsedLink,
});
