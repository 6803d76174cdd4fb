import manifest from "../package.json";

/** Commit that the executable was built from; the build puts it in. */
declare const LABD_COMMIT: string | undefined;

export const VERSION: string = manifest.version;
export const COMMIT: string = typeof LABD_COMMIT === "string" ? LABD_COMMIT : "source";
