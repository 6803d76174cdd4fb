import { readEnvelope } from "../../../src/scoring/contract/envelope.ts";
import { MESSAGE_LIMITS } from "../../../src/scoring/contract/limits.ts";

/**
 * Reads one long message and prints the bytes by which the process grew at most. Standard input is a JSON object: the
 * message is `head`, then `again` until there are `total` bytes, then `tail`.
 */
const { head, again, tail, total, namespace } = (await Bun.stdin.json()) as Record<
  "head" | "again" | "tail" | "namespace",
  string
> & { total: number };

const encoder = new TextEncoder();
Bun.gc(true);
const before = process.memoryUsage.rss();
let peak = before;

const chunk = encoder.encode(again.repeat(Math.ceil(65_536 / again.length)));
let sent = 0;
const body = new ReadableStream<Uint8Array>({
  start: (controller) => controller.enqueue(encoder.encode(head)),
  pull(controller) {
    controller.enqueue(sent < total ? chunk : encoder.encode(tail));
    if (sent >= total) controller.close();
    sent += chunk.length;
    if (sent % (64 * chunk.length) === 0) peak = Math.max(peak, process.memoryUsage.rss());
  },
});

const limits = { ...MESSAGE_LIMITS, bytes: 1e9, elements: 1e9, namespaces: 1e9 };
const { problem } = await readEnvelope(body, { contentType: "text/xml", namespace, limits });
process.stdout.write(JSON.stringify({ problem: problem && problem.message, grown: peak - before }));
