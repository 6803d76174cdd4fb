/** The systemd unit: the service writes only its own directories, sees no homes or devices, and gains no privileges. */
export function serviceUnit({
  executable,
  settings,
  writable,
}: {
  executable: string;
  settings: string;
  /** Directories to write besides the unit's own. */
  writable: readonly string[];
}): string {
  // With -, a missing disk does not keep the service from starting.
  const paths = writable.map(
    (path) => `ReadWritePaths=${JSON.stringify(`-${path.replaceAll("%", "%%")}`)}\n`,
  );
  return `[Unit]
Description=labd: conservation scoring and laboratory inventory
After=network-online.target
Wants=network-online.target
# Starts again and again: a port may become free later.
StartLimitIntervalSec=0

[Service]
# Started once /readyz says so; a backup and a migration before that may take long.
Type=notify
TimeoutStartSec=infinity
ExecStart=${executable} serve --config ${settings}
# Reloads the certificate.
ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
# Running requests get 30 seconds to finish.
TimeoutStopSec=40
Restart=on-failure
# A server that answers nothing for a minute is restarted.
WatchdogSec=60
# When memory runs out, the kernel ends a helper of the server (they have a high oom_score_adj), which is started again.
OOMPolicy=continue
RestartSec=2
# Invalid settings, and a database of a newer version: trying again does not help.
RestartPreventExitStatus=64 76 78
User=labd
Group=labd
WorkingDirectory=/var/lib/labd
StateDirectory=labd
StateDirectoryMode=0700
RuntimeDirectory=labd
RuntimeDirectoryMode=0750
UMask=0077
LimitNOFILE=65536

# Sandboxing. Code is compiled at run time, so MemoryDenyWriteExecute stays off.
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
${paths.join("")}ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateMounts=yes
PrivateUsers=yes
PrivateIPC=yes
ProtectHostname=yes
ProtectClock=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectProc=invisible
ProcSubset=pid
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
KeyringMode=private
DevicePolicy=closed
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallFilter=@chown setpriority
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}
