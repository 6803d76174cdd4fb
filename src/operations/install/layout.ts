import { SETTING_NAMES, SETTINGS } from "../../config.ts";
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
  /** Null for the executable, which is a copy of the one that installs. */
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

/** @param prefix `/usr` for a package, `/usr/local` for an installation by an administrator */
export function layout(prefix: string): Layout {
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
      { path: unit, mode: 0o644, content: serviceUnit({ executable, settings }) },
      {
        path: `${isPackage ? "/usr/lib" : "/etc"}/sysusers.d/labd.conf`,
        mode: 0o644,
        content: `#Type Name Id GECOS Home directory\nu ${ACCOUNT} - "labd laboratory server" ${data}\n`,
      },
    ],
  };
}

/** The first settings file: every setting with its default, commented out. */
function settingsFile(dataDirectory: string): string {
  const rows = SETTING_NAMES.filter((name) => name !== "data_dir" && name !== "workers").map((name) => {
    const { sentence, fallback } = SETTINGS[name];
    // A package is built on one machine for many.
    const shown = name === "password_hashes" ? 1 : fallback;
    return `${comment(sentence)}\n#${name} = ${JSON.stringify(shown)}\n`;
  });
  return `# Settings of labd. labd check --config FILE prints them all with the source of each value.
# Commented lines show the defaults. After a change: systemctl restart labd

${comment(SETTINGS.data_dir.sentence)}
data_dir = ${JSON.stringify(dataDirectory)}

${comment(SETTINGS.workers.sentence)}
#workers = 2

${rows.join("\n")}`;
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
