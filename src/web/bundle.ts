import type { Bundle } from "./make-bundle.ts";

/** The name that the build gives the file it adds to the executable. */
const BUILT = /^pages\b.*\.bundle$/;

let made: Promise<Bundle> | undefined;

/** Scripts and styles of the pages: in the executable those that the build made, otherwise made at first use. */
export function bundle(): Promise<Bundle> {
  const built = Bun.embeddedFiles.find((file) => BUILT.test((file as File).name));
  made ??= built
    ? built.bytes().then((packed) => JSON.parse(new TextDecoder().decode(Bun.gunzipSync(packed))) as Bundle)
    : import("./make-bundle.ts").then(({ makeBundle }) => makeBundle());
  return made;
}
