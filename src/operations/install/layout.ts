import { settingsFile } from "./settings-file.ts";
import { serviceUnit } from "./service-unit.ts";

/** What an installation consists of, as data: `labd install` writes it, the Debian package holds it. */

export interface InstalledFile {
  /** Absolute path on the machine that it is for. */
  path: string;
  mode: number;
  /** Belongs to root and the group of the service; else to root alone. */
  ofGroup?: boolean;
  /** Stays as it is where it exists, and is only removed with the data: people change it. */
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

/** @param prefix `/usr` for a package, `/usr/local` for what an administrator installs */
export function layout(prefix: string): Layout {
  const executable = `${prefix}/bin/labd`;
  const settings = "/etc/labd/labd.toml";
  const data = "/var/lib/labd";
  // Units that do not come with a package live in /etc (systemd.unit(5)).
  const unit =
    prefix === "/usr" ? "/usr/lib/systemd/system/labd.service" : "/etc/systemd/system/labd.service";
  const sysusers = prefix === "/usr" ? "/usr/lib/sysusers.d/labd.conf" : "/etc/sysusers.d/labd.conf";
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
        path: sysusers,
        mode: 0o644,
        content: `#Type Name Id GECOS Home directory\nu ${ACCOUNT} - "labd laboratory server" ${data}\n`,
      },
    ],
  };
}
