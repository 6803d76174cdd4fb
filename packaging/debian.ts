/**
 * The Debian package: the layout of `labd install --root` and what dpkg needs around it. Built by `bun run release`
 * with dpkg-deb; `lintian` is asked where it is there.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { $ } from "bun";
import manifest from "../package.json";
import { formatHelp } from "../src/commands/help.ts";
import { ACCOUNT, layout } from "../src/commands/install-layout.ts";
import { loadCommands } from "../src/commands/main.ts";

const MAINTAINER = "labd maintainers <labd@lab.example>";
const { data, settings } = layout("/usr");
/** What the settings are copied from where there are none yet. */
const TEMPLATE = "/usr/share/labd/labd.toml";

/** Also run by a test. */
export const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  # Before the account, whose home it is.
  [ -d ${data} ] || install -d -m 0700 ${data}
  if ! getent passwd ${ACCOUNT} >/dev/null; then
    adduser --system --group --no-create-home --home ${data} --gecos "labd laboratory server" ${ACCOUNT} >/dev/null
  fi
  # No conffile: what is in it changes with each version, and nobody wants to be asked for it.
  if [ ! -e ${settings} ]; then
    install -d -m 0755 /etc/labd
    install -m 0640 ${TEMPLATE} ${settings}
  fi
  chown root:${ACCOUNT} ${settings}
  chmod 0640 ${settings}
  install -d -m 0700 -o ${ACCOUNT} -g ${ACCOUNT} ${data}
  deb-systemd-helper unmask labd.service >/dev/null || true
  if deb-systemd-helper --quiet was-enabled labd.service; then
    deb-systemd-helper enable labd.service >/dev/null || true
  else
    deb-systemd-helper update-state labd.service >/dev/null || true
  fi
  if [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
    # The new version migrates the database when it starts.
    # Not for ever: it is not ready while the disk is full, for example.
    if [ -n "$2" ]; then timeout 300 deb-systemd-invoke restart labd.service >/dev/null || true
    else
      timeout 300 deb-systemd-invoke start labd.service >/dev/null || true
      # Data of an earlier installation may have one.
      if ! systemctl --quiet is-active labd.service ||
        [ "$(runuser -u ${ACCOUNT} -- labd user list --administrators --json --config ${settings})" = "[]" ]; then
        echo "labd: to make the first administrator, open the link that this shows: journalctl -u labd | grep setup"
      fi
    fi
  fi
fi
`;

const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop labd.service >/dev/null || true
fi
`;

const POSTRM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ]; then
  if command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper purge labd.service >/dev/null || true
    deb-systemd-helper unmask labd.service >/dev/null || true
  fi
  rm -f ${settings} ${settings}.dpkg-*
  rmdir /etc/labd 2>/dev/null || true
  # Records of a laboratory are not removed with a program: ${data} stays, and so does its owner.
  if [ -d ${data} ]; then
    echo "labd: the data were kept. To remove them, with the backups among them: rm -r ${data}; deluser --system ${ACCOUNT}" >&2
  fi
fi
`;

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: labd
Comment: Sample sequences are UniProtKB/Swiss-Prot's, (c) UniProt Consortium, CC BY 4.0. The predictor of disorder was
 trained on such sequences and on predictions of metapredict, (c) Holehouse Lab, MIT licence. The viewer of structures
 is 3Dmol.js, (c) 2014 University of Pittsburgh and contributors, BSD-3-Clause licence.

Files: *
Copyright: 2026 the labd authors
License: Apache-2.0
 On Debian systems the text of the licence is in /usr/share/common-licenses/Apache-2.0.
`;

const EXAMPLES = [
  "nginx.conf",
  "Caddyfile",
  "litestream.yml",
  "grafana.json",
  "prometheus-alerts.yml",
  ...readdirSync("packaging/workflows", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative("packaging", join(entry.parentPath, entry.name)))
    .sort(),
];

/** Why the package is not as Debian's own are. */
const OVERRIDES = `# The program is appended to the runtime: stripping would cut it off.
labd: unstripped-binary-or-object [usr/bin/labd]
# Bun is built with what it needs.
labd: embedded-library *
labd: hardening-no-pie [usr/bin/labd]
labd: hardening-no-relro [usr/bin/labd]
# It is no part of Debian, and has no bug to close there.
labd: initial-upload-closes-no-bugs *
`;

/** A page of troff from the same rows as the help. */
async function manual(version: string): Promise<string> {
  const escape = (text: string): string =>
    text
      .replaceAll("\\", "\\e")
      .replaceAll("-", "\\-")
      .replace(/^(?=[.'])/gm, "\\&");
  const commands = await loadCommands();
  const verbs = commands.map((verb) => `.SS labd ${verb.name}\n.nf\n${escape(formatHelp(verb))}.fi`);
  return (
    `.TH LABD 1 "" "labd ${version}"\n.SH NAME\nlabd \\- ${manifest.description.replace(/\.$/, "")}\n` +
    `.SH SYNOPSIS\n.B labd\n.I VERB\n[flags]\n.SH VERBS\n${verbs.join("\n")}\n` +
    `.SH FILES\n${settings}, ${data}\n`
  );
}

/**
 * Builds `labd_VERSION_ARCHITECTURE.deb`.
 * @param own executable of this machine, which lays out the files
 * @param executable the one to pack
 * @returns the path of the package
 */
export async function buildDebianPackage(
  own: string,
  executable: string,
  architecture: "amd64" | "arm64",
  out: string,
  version: string,
): Promise<string> {
  const root = join(out, "debian");
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "DEBIAN"), { recursive: true });
  await $`${resolve(own)} install --systemd --prefix /usr --root ${root}`.quiet();
  copyFileSync(executable, join(root, "usr/bin/labd"));
  // dpkg makes accounts by its script, and the directory of data is not the package's.
  rmSync(join(root, "usr/lib/sysusers.d"), { recursive: true });
  rmSync(join(root, "var"), { recursive: true });
  const documents = join(root, "usr/share/doc/labd");
  const write = (path: string, content: string | Uint8Array, mode = 0o644): void => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content, { mode });
  };
  write(join(documents, "copyright"), COPYRIGHT);
  const date = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000 || Date.now());
  const stamp = date.toUTCString().replace("GMT", "+0000");
  const changes = `labd (${version}) stable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- ${MAINTAINER}  ${stamp}\n`;
  const compressed = (text: string): Uint8Array => Bun.gzipSync(Buffer.from(text), { level: 9 });
  write(join(documents, "changelog.gz"), compressed(changes));
  write(join(documents, "CHANGELOG.md.gz"), compressed(readFileSync("CHANGELOG.md", "utf8")));
  for (const name of readdirSync("docs").filter((name) => name.endsWith(".md")))
    write(join(documents, `${name}.gz`), compressed(readFileSync(join("docs", name), "utf8")));
  for (const name of EXAMPLES)
    write(
      join(documents, "examples", name),
      readFileSync(join("packaging", name)),
      name.endsWith(".sh") ? 0o755 : 0o644,
    );
  mkdirSync(join(root, TEMPLATE, ".."), { recursive: true });
  renameSync(join(root, settings), join(root, TEMPLATE));
  chmodSync(join(root, TEMPLATE), 0o644);
  rmSync(join(root, "etc"), { recursive: true });
  write(join(root, "usr/share/man/man1/labd.1.gz"), compressed(await manual(version)));
  write(join(root, "usr/share/lintian/overrides/labd"), OVERRIDES);
  for (const [name, script] of Object.entries({ postinst: POSTINST, prerm: PRERM, postrm: POSTRM }))
    write(join(root, "DEBIAN", name), script, 0o755);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith("DEBIAN") && statSync(join(root, path)).isFile(),
  );
  const kilobytes = files.reduce((sum, path) => sum + Math.ceil(statSync(join(root, path)).size / 1024), 0);
  const sums = files.map((path) => {
    const hash = new Bun.CryptoHasher("md5").update(readFileSync(join(root, path))).digest("hex");
    return `${hash}  ${path}\n`;
  });
  write(join(root, "DEBIAN/md5sums"), sums.sort().join(""));
  write(
    join(root, "DEBIAN/control"),
    `Package: labd\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: ${MAINTAINER}\n` +
      `Installed-Size: ${kilobytes}\nSection: science\nPriority: optional\nDepends: libc6, adduser\n` +
      "Recommends: nginx | caddy\n" +
      "Description: conservation scoring of motifs (SOAP) and laboratory inventory (REST)\n" +
      " One executable for a laboratory's server: is the match of a short linear motif\n" +
      " conserved in the homologs of its protein, asked over SOAP or JSON; and where is\n" +
      " what in the laboratory, over REST and as pages.\n",
  );
  await $`find ${root} -type d -exec chmod 0755 {} +`.quiet();
  const path = join(out, `labd_${version}_${architecture}.deb`);
  // What several threads write depends on their number.
  await $`dpkg-deb -Zxz -z1 --threads-max=1 --root-owner-group --build ${root} ${path}`.quiet();
  rmSync(root, { recursive: true });
  if (Bun.which("lintian")) {
    const said = await $`lintian --fail-on error ${path}`.quiet().nothrow();
    process.stdout.write(said.stdout);
    if (said.exitCode !== 0) throw new Error(`lintian does not like ${path}.`);
  }
  return path;
}
