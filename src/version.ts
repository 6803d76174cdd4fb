import manifest from "../package.json";

/** Version that build.ts sets, such as `0.2.0` or, between releases, `0.2.0+12.g1a2b3c4d`. */
declare const LABD_VERSION: string | undefined;

export const VERSION: string = typeof LABD_VERSION === "string" ? LABD_VERSION : `${manifest.version}+source`;
/** Commit of a build between releases; "source" when run from source; the version itself for a release. */
export const COMMIT: string = /\+.*?g([0-9a-f]+)/.exec(VERSION)?.[1] ?? VERSION.split("+")[1] ?? VERSION;

/** Public key of minisign with which releases are signed; "" without one. */
export const RELEASE_KEY: string = manifest.releaseKey;

/**
 * Orders versions: negative if `a` is older than `b`. Builds of a number, such as `0.2.0+12.g1a2b3c4d`, come before its
 * release `0.2.0`.
 */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [a, b].map((version) => {
    const [, number = "", build, count = "0"] = /^([\d.]+)(\+(\d+)?)?/.exec(version) ?? [];
    return number
      .split(".")
      .map(Number)
      .concat(build === undefined ? Number.MAX_SAFE_INTEGER : Number(count));
  });
  const at = first.findIndex((part, index) => part !== second[index]);
  return at === -1 ? 0 : first[at] - second[at];
}
