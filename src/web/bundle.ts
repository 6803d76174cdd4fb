import type { Bundle } from "./make-bundle.ts";

/** Set by the build. */
declare const LABD_BUNDLE: Bundle | undefined;

let made: Promise<Bundle> | undefined;

/** Scripts and styles of the pages: in the executable those that the build made, otherwise made at first use. */
export function bundle(): Promise<Bundle> {
  made ??=
    typeof LABD_BUNDLE === "undefined"
      ? import("./make-bundle.ts").then(({ makeBundle }) => makeBundle())
      : Promise.resolve(LABD_BUNDLE);
  return made;
}
