import { existsSync } from "node:fs";
import type { Call } from "./command-line.ts";
import { type Config, storeAccess } from "../config.ts";
import { calibrationName, fetchCorpus, objectName } from "../farm/corpus-fetch.ts";
import { Problem } from "../problem.ts";
import { calibrationPath, type Corpora } from "../scoring/index.ts";
import { ObjectStore } from "../platform/object-store.ts";
import { namedBytes } from "./named-file.ts";
import { transferLine } from "./progress.ts";

const tell = (sentence: string): void => void process.stderr.write(`labd: ${sentence}\n`);

/** Puts a corpus into a store of objects, with its own null where it has one. */
export async function pushCorpus(corpora: Corpora, call: Call, config: Config, name: string): Promise<void> {
  const to = call.value("--to");
  if (to === undefined) throw new Problem("usage", "Name where it goes: --to s3://bucket/prefix.");
  const store = new ObjectStore(to, storeAccess(config));
  const info = corpora.find(name);
  corpora.verify(info);
  const line = transferLine(call.has("--progress"));
  const calibration = calibrationPath(info.path);
  // What needs it comes after it: who finds the corpus finds the null that belongs to it.
  if (existsSync(calibration))
    await store.put(calibrationName(info.hash), calibration, await hashOf(calibration));
  const put = await store.put(objectName(info.hash), info.path, await hashOf(info.path), {
    report: line.show,
  });
  line.clear();
  if (put === "there") tell("It is there already, whole.");
  process.stdout.write(`${store.where(objectName(info.hash))}\n`);
}

/** Fetches a corpus by its hash from servers or stores, and takes it in. */
export async function pullCorpus(corpora: Corpora, call: Call, config: Config, hash: string): Promise<void> {
  const sources = call.values("--from");
  if (sources.length === 0)
    throw new Problem(
      "usage",
      "Name where it comes from: --from https://server or --from s3://bucket/prefix.",
    );
  const known = corpora.list().find((one) => one.hash === hash);
  const line = transferLine(call.has("--progress"));
  await fetchCorpus(hash, sources, config.data_dir, {
    access: storeAccess(config),
    token: await tokenOf(call),
    report: line.show,
    tell(sentence) {
      line.clear();
      tell(sentence);
    },
  });
  line.clear();
  const { name } = corpora.adopt(hash, call.value("--name"));
  if (known) tell(`It is there already, as ${name}.`);
  if (call.has("--use")) corpora.use(hash);
}

/** A token is a secret: it does not come as an argument, which all of the machine can see. */
export async function tokenOf(call: Call): Promise<string | undefined> {
  const file = call.value("--token-file");
  if (file === undefined) return undefined;
  const token = Buffer.from(await namedBytes(file))
    .toString()
    .trim();
  if (!/^\S{1,1000}$/.test(token)) throw new Problem("usage", `--token-file: ${file} holds no token.`);
  return token;
}

async function hashOf(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const piece of Bun.file(path).stream()) hasher.update(piece);
  return hasher.digest("hex");
}
