import { statSync } from "node:fs";
import { type CheckResult, warning } from "../../platform/check-result.ts";

/** Files with secrets that everybody on this machine may read. @param files each with what is in it, for people */
export function checkSecretFiles(files: readonly { path: string; holds: string }[]): CheckResult[] {
  // Windows has no modes of this kind.
  if (process.platform === "win32") return [];
  return files.flatMap(({ path, holds }) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat || (stat.mode & 0o004) === 0) return [];
    return [
      warning(
        "permissions",
        `Everybody on this machine may read ${path} (mode 0${(stat.mode & 0o777).toString(8)}), which holds ${holds}.`,
        `chmod o-rwx ${path}, and have it belong to the account or the group of the service.`,
      ),
    ];
  });
}
