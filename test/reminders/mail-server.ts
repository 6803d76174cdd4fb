import type { Socket } from "bun";

/** An e-mail as a mail server got it. */
export interface Received {
  from: string;
  to: string;
  /** Headers and body, as they were sent. */
  source: string;
  /** The body as text. */
  text: string;
}

interface Conversation {
  pending: string;
  from: string;
  to: string;
  isData: boolean;
}

/**
 * A mail server on this machine. `answers` replaces the answer to the next such command; null closes the connection, "" says nothing.
 * `sender`: until the first sender was named.
 */
export function openMailServer() {
  const got: Received[] = [];
  const answers: Record<string, string | null> = {};
  const sender = Promise.withResolvers<void>();
  const say = (socket: Socket<Conversation>, command: string, usual: string): boolean => {
    const said = command in answers ? answers[command] : usual;
    if (said === null) socket.end();
    else if (said !== "") socket.write(`${said}\r\n`);
    return said === usual;
  };
  const end = (socket: Socket<Conversation>, source: string): void => {
    const { from, to } = socket.data;
    socket.data.isData = false;
    if (say(socket, "END", "250 queued")) got.push({ from, to, source, text: decodeBody(source) });
  };
  const command = (socket: Socket<Conversation>, line: string): void => {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === "EHLO") say(socket, verb, "250-mail.test\r\n250 AUTH PLAIN");
    else if (verb === "AUTH") say(socket, verb, "235 welcome");
    else if (verb === "MAIL") {
      sender.resolve();
      socket.data.from = /<(.*?)>/.exec(line)?.[1] ?? "";
      say(socket, verb, "250 sender");
    } else if (verb === "RCPT") {
      socket.data.to = /<(.*?)>/.exec(line)?.[1] ?? "";
      say(socket, verb, "250 recipient");
    } else if (verb === "DATA") socket.data.isData = say(socket, verb, "354 go ahead");
    else say(socket, verb, "221 bye");
  };
  const server = Bun.listen<Conversation>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { pending: "", from: "", to: "", isData: false };
        say(socket, "GREETING", "220 mail.test");
      },
      data(socket, bytes) {
        socket.data.pending += bytes.toString();
        for (;;) {
          const { pending, isData } = socket.data;
          const mark = isData ? "\r\n.\r\n" : "\r\n";
          const at = pending.indexOf(mark);
          if (at < 0) return;
          socket.data.pending = pending.slice(at + mark.length);
          if (isData) end(socket, pending.slice(0, at));
          else command(socket, pending.slice(0, at));
        }
      },
    },
  });
  const close = (): void => server.stop(true);
  return { got, answers, sender: sender.promise, port: server.port, close, [Symbol.dispose]: close };
}

/** The decoded body of a message of one part. */
function decodeBody(source: string): string {
  const at = source.indexOf("\r\n\r\n");
  const body = source.slice(at + 4);
  if (/^content-transfer-encoding: base64/im.test(source.slice(0, at)))
    return Buffer.from(body, "base64").toString();
  if (!/^content-transfer-encoding: quoted-printable/im.test(source.slice(0, at))) return body;
  const bytes = body.replace(/=\r\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex: string) => `%${hex}`);
  return decodeURIComponent(bytes.replace(/%(?![0-9A-F]{2})/g, "%25")).replaceAll("\r\n", "\n");
}
