import { existsSync } from "node:fs";
import { isAbsolute, normalize } from "node:path";
import { readConfig, SECTIONS } from "../config.ts";
import { serviceUnit } from "./service-unit.ts";

/** A file of an installation: `labd install` writes it, and the Debian package contains it. */
export interface InstalledFile {
  /** Absolute path on the target machine. */
  path: string;
  mode: number;
  /** Owned by root and the group of the service, not by root alone. */
  ofGroup?: boolean;
  /** Edited by administrators: an existing file stays, and only --purge removes it. */
  isSetting?: boolean;
  /** Content; null for the executable, which is copied from the running one. */
  content: string | null;
}

export interface Layout {
  executable: string;
  settings: string;
  data: string;
  unit: string;
  files: InstalledFile[];
}

/** Account and group of the service. */
export const ACCOUNT = "labd";

/**
 * @param prefix `/usr` for a package, `/usr/local` for an installation by an administrator
 * @param writable directories that the service writes besides its own
 */
export function layout(prefix: string, writable: readonly string[] = []): Layout {
  const isPackage = prefix === "/usr";
  const executable = `${prefix}/bin/labd`;
  const settings = "/etc/labd/labd.toml";
  const data = "/var/lib/labd";
  // Units that do not come with a package belong in /etc (systemd.unit(5)).
  const unit = `${isPackage ? "/usr/lib" : "/etc"}/systemd/system/labd.service`;
  return {
    executable,
    settings,
    data,
    unit,
    files: [
      { path: executable, mode: 0o755, content: null },
      { path: settings, mode: 0o640, ofGroup: true, isSetting: true, content: settingsFile(data) },
      {
        path: unit,
        mode: 0o644,
        content: serviceUnit({ executable, settings, writable }),
      },
      {
        path: `${isPackage ? "/usr/lib" : "/etc"}/sysusers.d/labd.conf`,
        mode: 0o644,
        content: `#Type Name Id GECOS Home directory\nu ${ACCOUNT} - "labd laboratory server" ${data}\n`,
      },
    ],
  };
}

/** The directories of data and backups that the settings name outside of the default one. */
export function directoriesOutside(data: string, settings: string): string[] {
  if (!existsSync(settings)) return [];
  const { config, origin } = readConfig({ flags: {}, environment: {}, file: settings });
  return (["data_dir", "backup_dir"] as const)
    .filter((name) => origin[name] !== "default")
    .map((name) => config[name])
    .filter((path) => isAbsolute(path) && !`${normalize(path)}/`.startsWith(`${data}/`));
}

/** The first settings file: every setting with its default, commented out. */
function settingsFile(dataDirectory: string): string {
  const sections = Object.entries(SECTIONS).map(([section, settings]) => {
    const rows = Object.entries(settings).map(([name, { sentence, fallback }]) => {
      // A package is built on one machine for many.
      const shown = JSON.stringify(name === "workers" ? 2 : fallback);
      const line = name === "data_dir" ? `${name} = ${JSON.stringify(dataDirectory)}` : `#${name} = ${shown}`;
      return `${comment(sentence)}\n${line}\n`;
    });
    return `[${section}]\n\n${rows.join("\n")}`;
  });
  return `# Settings of labd. labd check --config FILE prints them all with the source of each value.
# Commented lines show the defaults. After a change: systemctl restart labd

${sections.join("\n")}`;
}

const WIDTH = 100;

function comment(text: string): string {
  const lines = ["#"];
  for (const word of text.split(" ")) {
    if (lines.at(-1)!.length + word.length >= WIDTH) lines.push("#");
    lines[lines.length - 1] += ` ${word}`;
  }
  return lines.join("\n");
}
