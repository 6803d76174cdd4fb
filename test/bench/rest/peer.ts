/** The peer, Django REST framework: peer.py with Debian's packages, with its own database. */
import { join } from "node:path";
import { type Service, withChildren } from "./service.ts";

const PYTHON = "/usr/bin/python3";
/**
 * Of the ways tried (also 2 processes of 4 threads, and 8 of one request) none was clearly faster at eight requests
 * at once; the other side is one process in all.
 */
const SERVED_BY = ["-m", "gunicorn", "--workers", "4", "--threads", "2", "--keep-alive", "75"];

/** Starts the peer with so many records of each kind, or gives nothing where its packages are not installed. */
export async function startPeer(directory: string, records: number): Promise<Service | undefined> {
  const python = (...words: string[]) => ({
    cmd: [PYTHON, ...words],
    cwd: import.meta.dir,
    env: {
      PATH: "/usr/bin:/bin",
      PYTHONDONTWRITEBYTECODE: "1",
      PEER_DATABASE: join(directory, "peer.sqlite"),
    },
    stdout: "pipe" as const,
    stderr: "pipe" as const,
  });
  const versionQuery = "import rest_framework, django_filters, gunicorn; print(rest_framework.VERSION)";
  let version: string;
  try {
    const probe = Bun.spawnSync(python("-c", versionQuery));
    if (!probe.success) return undefined;
    version = probe.stdout.toString().trim();
  } catch {
    // No Python there at all.
    return undefined;
  }
  const filled = Bun.spawnSync(python("-c", `import peer; peer.fill(${records})`));
  if (!filled.success) throw new Error(`peer: ${filled.stderr.toString()}`);
  const tokens = JSON.parse(filled.stdout.toString()) as Record<string, string>;
  const child = Bun.spawn(python(...SERVED_BY, "--bind", "127.0.0.1:0", "peer:application"));
  const decoder = new TextDecoder();
  let output = "";
  let url: string | undefined;
  const reader = child.stderr.getReader();
  while (url === undefined) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`peer: ${output}`);
    output += decoder.decode(value, { stream: true });
    url = /Listening at: (\S+)/.exec(output)?.[1];
  }
  void (async () => {
    // Reports errors; a full pipe would stop the peer.
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const text = decoder.decode(part.value, { stream: true });
      if (!text.includes("[INFO]")) process.stderr.write(text);
    }
  })();
  return {
    name: `Django REST framework ${version}`,
    base: `${url}/api/v2/`,
    tokens,
    pids: () => withChildren(child.pid),
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
