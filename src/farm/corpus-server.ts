import { download } from "../platform/download.ts";
import { Problem } from "../problem.ts";

export interface CorpusRead {
  /** Offset of the first byte. */
  from: number;
  /** Called once with the size of the whole corpus, before the first byte. */
  onSize: (bytes: number) => void;
  pause?: number | undefined;
}

/** A labd server that gives its corpora to callers with a token. */
export class CorpusServer {
  readonly address: string;

  /** @param url `https://server` with its base path. @throws Problem invalid_request */
  constructor(
    url: string,
    private readonly token: string | undefined,
  ) {
    const { protocol, username, search, hash, href } = URL.canParse(url)
      ? new URL(url)
      : { protocol: "", username: "", search: "", hash: "", href: "" };
    if (!/^https?:$/.test(protocol) || username !== "" || search !== "" || hash !== "")
      throw new Problem(
        "invalid_request",
        `${url} is not the address of a server. Expected https://server, without a password or parameters.`,
      );
    this.address = href.replace(/\/+$/, "");
  }

  /** The bytes of a corpus; reading continues after interruptions. @throws Problem not_found, unauthenticated, store_failed */
  corpus(hash: string, read: CorpusRead): AsyncGenerator<Uint8Array> {
    return this.#read(`/api/scoring/corpora/${hash}`, read);
  }

  #read(path: string, read: CorpusRead): AsyncGenerator<Uint8Array> {
    const resource = `${this.address}${path}`;
    const open = (from: number, signal: AbortSignal): Promise<Response> =>
      fetch(resource, {
        signal,
        // The token is for this server only.
        redirect: "manual",
        headers: {
          "Accept-Encoding": "identity",
          ...(this.token === undefined ? {} : { Authorization: `Token ${this.token}` }),
          ...(from > 0 ? { Range: `bytes=${from}-` } : {}),
        },
      });
    return download(open, { what: resource, ...read, refused: (status) => this.#refusal(status, resource) });
  }

  #refusal(status: number, resource: string): Problem | undefined {
    if (status === 404)
      return new Problem("not_found", `${resource} does not exist: the server has no such corpus.`);
    if (status !== 401 && status !== 403) return undefined;
    const remedy =
      this.token === undefined
        ? "requires a token of an account on that server"
        : "rejected the token: give a valid token of that server";
    return new Problem("unauthenticated", `${resource} ${remedy}.`);
  }
}
