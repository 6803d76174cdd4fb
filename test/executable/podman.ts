import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** podman and buildah with their own storage, below a directory. */

/** Removes limits from what runc is told: a sandbox without CAP_SYS_RESOURCE may not set them. */
const RUNC = `#!/bin/sh
before=
for word; do
  case "$before" in
    --bundle|-b) file=$word/config.json ;;
    --process|-p) file=$word ;;
  esac
  before=$word
done
[ -z "$file" ] || ${process.execPath} -e '
  const [file] = process.argv.slice(1);
  const config = await Bun.file(file).json();
  delete (config.process ?? config).rlimits;
  await Bun.write(file, JSON.stringify(config));
' "$file"
exec ${Bun.which("runc")} "$@"
`;

export interface Podman {
  env: Record<string, string>;
  /** Runs podman with these words. */
  podman(...words: string[]): { code: number; stdout: string; stderr: string };
}

export function openPodman(root: string): Podman {
  for (const name of ["storage", "run", "runtime"]) mkdirSync(join(root, name), { recursive: true });
  const runtime = join(root, "runtime/runc");
  writeFileSync(runtime, RUNC);
  chmodSync(runtime, 0o755);
  writeFileSync(
    join(root, "storage.conf"),
    `[storage]\ndriver = "vfs"\nrunroot = "${root}/run"\ngraphroot = "${root}/storage"\n`,
  );
  writeFileSync(
    join(root, "containers.conf"),
    `[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n[engine.runtimes]\nrunc = ["${runtime}"]\n`,
  );
  const env = {
    ...(process.env as Record<string, string>),
    CONTAINERS_STORAGE_CONF: join(root, "storage.conf"),
    CONTAINERS_CONF: join(root, "containers.conf"),
    BUILDAH_ISOLATION: "chroot",
  };
  return {
    env,
    podman(...words) {
      const { exitCode, stdout, stderr } = Bun.spawnSync(["podman", ...words], { env });
      return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
    },
  };
}

/** True if podman can run the image `name` here. */
export const canRun = ({ podman }: Podman, name: string): boolean =>
  podman("run", "--rm", "--network=host", name, "--version").code === 0;
