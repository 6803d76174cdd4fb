import { createPublicKey, verify } from "node:crypto";
import { fileHash } from "./durable-file.ts";

const [ALGORITHM_BYTES, ID_BYTES, SIGNATURE_BYTES] = [2, 8, 64];
const KEY_START = ALGORITHM_BYTES + ID_BYTES;
/** Signatures of a file's BLAKE2b-512, which `minisign -S` makes; old ones (`Ed`) sign the file itself. */
const PREHASHED = "ED";

/**
 * Verifies a file against a signature of minisign, https://jedisct1.github.io/minisign/.
 * @param signature text of the `.minisig` file
 * @param publicKey base64 of the algorithm `Ed`, eight bytes of its id and 32 of Ed25519
 * @returns the trusted comment
 * @throws Error with the reason
 */
export function verifySignature(path: string, signature: string, publicKey: string): string {
  const lines = signature.split(/\r?\n/);
  const [, first = "", commentLine = "", second = ""] = lines;
  const [signed, global] = [Buffer.from(first, "base64"), Buffer.from(second, "base64")];
  const comment = commentLine.replace(/^trusted comment: /, "");
  if (
    signed.length !== KEY_START + SIGNATURE_BYTES ||
    global.length !== SIGNATURE_BYTES ||
    comment === commentLine
  )
    throw new Error("it is not a signature of minisign");
  if (signed.toString("latin1", 0, ALGORITHM_BYTES) !== PREHASHED)
    throw new Error("it has the old format: sign without -l");
  if (!/^RW[A-Za-z0-9+/]{54}$/.test(publicKey))
    throw new Error(`${publicKey} is not a public key of minisign`);
  const key = Buffer.from(publicKey, "base64");
  const id = (bytes: Buffer): string =>
    bytes.subarray(ALGORITHM_BYTES, KEY_START).toReversed().toHex().toUpperCase();
  if (id(signed) !== id(key)) throw new Error(`it was made with key ${id(signed)}, not with ${id(key)}`);
  const x = key.subarray(KEY_START).toString("base64url");
  const point = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const bytes = signed.subarray(KEY_START);
  if (!verify(null, Buffer.from(fileHash(path, "blake2b512"), "hex"), point, bytes))
    throw new Error("the file is not the one that was signed");
  if (!verify(null, Buffer.concat([bytes, Buffer.from(comment)]), point, global))
    throw new Error("its trusted comment was changed");
  return comment;
}
