/**
 * The socket that systemd holds for the service: while that restarts, clients wait in the queue of the kernel. The name
 * is that of the service, to which it is handed whenever it starts.
 */
export function socketUnit(stream: string, account: string): string {
  const access = `SocketUser=${account}
SocketGroup=${account}
SocketMode=0660
`;
  return `[Unit]
Description=labd: where clients connect

[Socket]
ListenStream=${stream}
${stream.startsWith("/") ? access : ""}# How many may wait for a service that is not there yet (at most net.core.somaxconn).
Backlog=4096

[Install]
WantedBy=sockets.target
`;
}
