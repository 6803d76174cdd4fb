/** True if a process of this machine runs. */
export function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process runs for another account.
    return (error as { code?: string }).code === "EPERM";
  }
}
