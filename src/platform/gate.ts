import { IDLE } from "./idle-timeout.ts";

/**
 * A gate before the server. Bun.serve takes no descriptor that is handed to it and keeps the certificate that it began
 * with (Bun 1.4.5); Bun.listen takes descriptors. So the gate accepts, and passes bytes on, unread, to whichever server
 * is behind it at that moment. A server that was replaced keeps the connections that it has.
 */

/** What is behind the gate: a server on 127.0.0.1. */
export interface Behind {
  port: number;
  /** Connections from the gate that are open, by the port that they have at the gate's end. */
  readonly passages: Map<number, Passage>;
  /** Connections that it was chosen for and that are not over, those that are still being made among them. */
  count: number;
  /** Called when one is over. */
  left(behind: Behind): void;
}

/** One connection through the gate. */
export interface Passage {
  /** Network address of the client; null for one of a Unix socket. */
  address: string | null;
}

/** Where to listen: an address of our own, or a socket that listens already. */
export type Door = { hostname: string; port: number } | { fd: number };

export interface Gate {
  /** Undefined for a Unix socket. */
  hostname: string | undefined;
  port: number;
  /** Takes no more connections; those there are go on. What waits at a socket that others have, too, stays there. */
  close(): void;
  /** Resolves when clients were sent all that was answered, and no server is connected any more. */
  emptied(): Promise<void>;
  /** Ends what is not over. */
  cut(): void;
}

/** One end of a connection. */
interface End {
  socket: Bun.Socket<Link> | undefined;
  /** What it has not taken yet. */
  waiting: Buffer | undefined;
  /** Nothing comes after what waits. */
  last: boolean;
}

interface Link {
  client: End;
  server: End;
  /** Undefined once that is no more connected. */
  behind: Behind | undefined;
  /** Its place among the passages. */
  place: number;
}

/** Passes each connection to what is behind the gate when it comes. @throws Error where it cannot listen */
export function openGate(door: Door, behind: () => Behind): Gate {
  const links = new Set<Link>();
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const look of waiting) look();
  };
  const finish = (link: Link): void => {
    if (!links.delete(link)) return;
    link.client.socket?.terminate();
    link.server.socket?.terminate();
    leave(link);
    changed();
  };
  const toServer = passing("client", finish, changed);
  const toClient = passing("server", finish, changed);
  const accept = (socket: Bun.Socket<Link>): void => {
    const inner = behind();
    const link: Link = { client: end(socket), server: end(undefined), behind: inner, place: 0 };
    socket.data = link;
    inner.count++;
    links.add(link);
    // Not read before there is somebody to read for.
    socket.pause();
    const refuse = (): void => finish(link);
    const open = (other: Bun.Socket<Link>): void => {
      if (!links.has(link)) return void other.terminate();
      link.server.socket = other;
      link.place = other.localPort;
      inner.passages.set(link.place, { address: socket.remoteAddress || null });
      socket.resume();
    };
    Bun.connect<Link>({
      hostname: "127.0.0.1",
      port: inner.port,
      allowHalfOpen: true,
      data: link,
      socket: { ...toClient, open, connectError: refuse },
    }).catch(refuse);
  };
  const listener = Bun.listen<Link>({
    ...(door as { hostname: string; port: number }),
    allowHalfOpen: true,
    socket: { ...toServer, open: accept },
  });
  const at: { address?: string; port?: number } = {};
  // Not in Bun's types. Of a Unix socket it says nothing.
  (listener as unknown as { getsockname(into: object): void }).getsockname(at);
  return {
    hostname: at.address,
    port: at.port ?? 0,
    close: () => listener.stop(false),
    async emptied() {
      const over = Promise.withResolvers<void>();
      const look = (): void => {
        if ([...links].every(({ client, server }) => !server.socket && !client.waiting)) over.resolve();
      };
      waiting.add(look);
      look();
      await over.promise;
      waiting.delete(look);
    },
    cut() {
      for (const link of links) if (link.server.socket || link.client.waiting) finish(link);
    },
  };
}

const end = (socket: Bun.Socket<Link> | undefined): End => ({ socket, waiting: undefined, last: false });

/** Nothing comes from what is behind any more. */
function leave(link: Link): void {
  const { behind } = link;
  if (behind === undefined) return;
  link.behind = undefined;
  behind.passages.delete(link.place);
  behind.count--;
  behind.left(behind);
}

/** What one end of each connection does for the other. */
function passing(
  side: "client" | "server",
  finish: (link: Link) => void,
  changed: () => void,
): Bun.SocketHandler<Link> {
  const other = side === "client" ? "server" : "client";
  /** Hands bytes over; while some wait, whoever sends them is not read. */
  const give = (to: End, from: End, bytes: Buffer): void => {
    const taken = Math.max(to.socket?.write(bytes) ?? 0, 0);
    if (taken === bytes.length) return;
    // A copy: the bytes belong to the runtime.
    to.waiting = Buffer.from(bytes.subarray(taken));
    from.socket?.pause();
  };
  /** Nothing comes for this end any more. */
  const close = (to: End): void => {
    to.last = true;
    // One that neither takes what waits nor goes is given up.
    to.socket?.timeout(IDLE);
    if (to.waiting === undefined) to.socket?.end();
  };
  return {
    data({ data: link }, bytes) {
      const to = link[other];
      if (to.socket === undefined) finish(link);
      else if (to.waiting) to.waiting = Buffer.concat([to.waiting, bytes]);
      else give(to, link[side], bytes);
    },
    drain({ data: link }) {
      const own = link[side];
      const { waiting } = own;
      if (waiting === undefined) return;
      own.waiting = undefined;
      give(own, link[other], waiting);
      if (own.waiting !== undefined) return;
      if (own.last) own.socket?.end();
      else link[other].socket?.resume();
      changed();
    },
    end({ data: link }) {
      close(link[other]);
    },
    timeout({ data: link }) {
      finish(link);
    },
    error({ data: link }) {
      finish(link);
    },
    close({ data: link }, error) {
      link[side].socket = undefined;
      if (error || link[other].socket === undefined) return finish(link);
      if (side === "server") leave(link);
      close(link[other]);
      changed();
    },
  };
}
