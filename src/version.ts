import manifest from "../package.json";

/** Version that build.ts sets, such as `0.2.0` or, between releases, `0.2.0+12.g1a2b3c4d`. */
declare const LABD_VERSION: string | undefined;

export const VERSION: string = typeof LABD_VERSION === "string" ? LABD_VERSION : `${manifest.version}+source`;
/** Commit of a build between releases; "source" when run from source; the version itself for a release. */
export const COMMIT: string = /\+.*?g([0-9a-f]+)/.exec(VERSION)?.[1] ?? VERSION.split("+")[1] ?? VERSION;
