/** The OCI image: the executable, the C library of this machine, and nothing else. Built by buildah, without a network. */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { $ } from "bun";
import { ACCOUNT } from "../src/commands/install-layout.ts";
import { fileHash } from "../src/platform/durable-file.ts";

/** Directories with the C library: of this machine's architecture, and of packages such as libc6-arm64-cross. */
const LIBRARIES = {
  amd64: {
    loader: "/lib64/ld-linux-x86-64.so.2",
    folders: ["/lib/x86_64-linux-gnu", "/usr/x86_64-linux-gnu/lib"],
  },
  arm64: {
    loader: "/lib/ld-linux-aarch64.so.1",
    folders: ["/lib/aarch64-linux-gnu", "/usr/aarch64-linux-gnu/lib"],
  },
} as const;
const NEEDED = ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"];

export type Architecture = keyof typeof LIBRARIES;

const DATA = "/var/lib/labd";
const USER = 10001;

// Running requests get 30 seconds to finish: podman stop --time 40.
const CONFIGURATION = `
  --entrypoint ["/usr/bin/labd"] --cmd serve --user ${USER}:${USER} --workingdir ${DATA} --volume ${DATA} --port 8480
  --env PATH=/usr/bin --env LABD_DATA_DIR=${DATA} --env LABD_HOST=0.0.0.0 --stop-signal SIGTERM
  --label org.opencontainers.image.title=labd --label org.opencontainers.image.licenses=Apache-2.0
`
  .trim()
  .split(/\s+/);

/** The version as a tag, which has no plus sign. */
export const imageTag = (version: string): string => version.replaceAll("+", "-");

/** Copies the files of the image into a folder. */
function writeRoot(root: string, executable: string, architecture: Architecture): void {
  const { loader, folders } = LIBRARIES[architecture];
  const folder = folders.find((path) => existsSync(join(path, NEEDED[0])));
  if (folder === undefined)
    throw new Error(
      `The image for ${architecture} needs its C library: apt-get install libc6-${architecture}-cross`,
    );
  rmSync(root, { recursive: true, force: true });
  const put = (from: string, to: string): void => cpSync(from, join(root, to), { dereference: true });
  put(executable, "usr/bin/labd");
  put(join(folder, basename(loader)), loader);
  for (const name of NEEDED) put(join(folder, name), join(folders[0], name));
  const account = (id: string, name: string, home: string): string =>
    `${name}:x:${id}:${id}::${home}:/usr/sbin/nologin\n`;
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/passwd"), account("0", "root", "/") + account(`${USER}`, ACCOUNT, DATA));
  writeFileSync(join(root, "etc/group"), `root:x:0:\n${ACCOUNT}:x:${USER}:\n`);
}

/** Builds `labd-VERSION-image-ARCHITECTURE.tar`, an archive that podman and docker load. @returns its path */
export async function buildImage(
  executable: string,
  architecture: Architecture,
  out: string,
  version: string,
): Promise<string> {
  const [root, layout] = [join(out, "root"), join(out, "image")];
  writeRoot(root, executable, architecture);
  rmSync(layout, { recursive: true, force: true });
  const time = process.env.SOURCE_DATE_EPOCH!;
  const empty = join(out, "empty");
  mkdirSync(empty, { recursive: true });
  const container = (await $`buildah from --arch ${architecture} scratch`.text()).trim();
  try {
    await $`buildah copy --chown 0:0 ${container} ${root} /`.quiet();
    await $`buildah copy --chown ${USER}:${USER} --chmod 0700 ${container} ${empty} ${DATA}`.quiet();
    await $`buildah copy --chown 0:0 --chmod 1777 ${container} ${empty} /tmp`.quiet();
    const library = fileHash(join(root, LIBRARIES[architecture].folders[0], NEEDED[0]));
    const labels = [
      "--label",
      `org.opencontainers.image.version=${version}`,
      "--label",
      `labd.libc=sha256:${library}`,
    ];
    await $`buildah config ${CONFIGURATION} ${labels} ${container}`.quiet();
    await $`buildah commit --quiet --timestamp ${time} --disable-compression=false ${container} oci:${layout}:labd:${imageTag(version)}`.quiet();
  } finally {
    await $`buildah rm ${container}`.quiet();
  }
  const path = join(out, `labd-${version}-image-${architecture}.tar`);
  await $`tar --sort=name --mtime=@${time} --owner=0 --group=0 --numeric-owner -cf ${path} -C ${layout} .`;
  for (const folder of [root, layout, empty]) rmSync(folder, { recursive: true });
  return path;
}
