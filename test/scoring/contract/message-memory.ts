import { readEnvelope } from "../../../src/scoring/contract/envelope.ts";

/**
 * Reads one long message and prints by how many bytes the process grew at most meanwhile. Standard input is a JSON
 * object: the message is `head`, then `again` until there are `total` bytes, then `tail`.
 */
const { head, again, tail, total, namespace } = (await Bun.stdin.json()) as Record<
  "head" | "again" | "tail" | "namespace",
  string
> & { total: number };

const encoder = new TextEncoder();
Bun.gc(true);
const before = process.memoryUsage.rss();
let peak = before;

async function* chunks() {
  const chunk = encoder.encode(again.repeat(Math.ceil(65_536 / again.length)));
  yield encoder.encode(head);
  for (let made = 0, n = 0; made < total; made += chunk.length, n++) {
    if (n % 64 === 0) peak = Math.max(peak, process.memoryUsage.rss());
    yield chunk;
  }
  yield encoder.encode(tail);
}

const limits = { bytes: 1e9, elements: 1e9, namespaces: 1e9 };
const { problem } = await readEnvelope(chunks(), { contentType: "text/xml", namespace, limits });
process.stdout.write(JSON.stringify({ problem: problem && problem.message, grown: peak - before }));
