import type { Bundle } from "./make-bundle.ts";

/** Scripts and styles of the pages. The build puts them into the executable; from source they are made at first use. */

/** The bundle that the build made. */
declare const LABD_BUNDLE: Bundle | undefined;

let made: Promise<Bundle> | undefined;

/** The bundle of this program. */
export function bundle(): Promise<Bundle> {
  made ??=
    typeof LABD_BUNDLE === "undefined"
      ? import("./make-bundle.ts").then(({ makeBundle }) => makeBundle())
      : Promise.resolve(LABD_BUNDLE);
  return made;
}
