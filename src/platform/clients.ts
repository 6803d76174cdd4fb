import { Elysia } from "elysia";
import { Problem } from "../problem.ts";
import { jsonResponse } from "./json-response.ts";
import { readZip, unzip, type ZipEntry } from "./zip-file.ts";

/** The name that the build gives the file it adds to the executable: a ZIP archive of the clients. */
const BUILT = /^clients\b.*\.bundle$/;
const PATH = "/clients";

/** A client for one language. */
export interface Client {
  name: string;
  language: string;
  /** Address of its file on this server. */
  url: string;
  /** Length of the file in bytes. */
  bytes: number;
  sha256: string;
  /** The command, or the call in R, that installs it. */
  install: string;
}

export interface ClientOptions {
  version: string;
  /** The address of the service. */
  findBase: (request: Request) => string;
  /** The list for people. */
  page: (request: Request, clients: readonly Client[]) => Promise<Response>;
}

/** Languages by the end of the name of a file, with the way to install a file by its address. */
const LANGUAGES: Readonly<Record<string, { language: string; type: string; install(url: string): string }>> =
  {
    ".whl": { language: "Python", type: "application/zip", install: (url) => `pip install ${url}` },
    ".tar.gz": {
      language: "R",
      type: "application/gzip",
      install: (url) => `install.packages("${url}", repos = NULL, type = "source")`,
    },
    ".tgz": { language: "TypeScript", type: "application/gzip", install: (url) => `npm install ${url}` },
  };

const languageOf = (name: string) => LANGUAGES[Object.keys(LANGUAGES).find((end) => name.endsWith(end))!];

type ClientFile = ZipEntry & { sha256: string };

let files: Promise<ClientFile[]> | undefined;

/** The files of the clients, of the version of the executable; none when labd runs from source. */
export const clientFiles = (): Promise<ClientFile[]> => (files ??= readFiles());

async function readFiles(): Promise<ClientFile[]> {
  const built = Bun.embeddedFiles.find((file) => BUILT.test((file as File).name));
  if (!built) return [];
  const members = readZip(await built.bytes());
  return Promise.all(
    members.map(async (member) => {
      const bytes = await unzip(member);
      const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
      return { name: member.name, bytes, sha256 };
    }),
  );
}

/** `/clients`, the list for people and programs (also for `pip --find-links`), and the files. */
export function clientRoutes({ version, findBase, page }: ClientOptions) {
  const hide = { detail: { hide: true } } as const;
  const list = async (request: Request): Promise<Client[]> =>
    (await clientFiles()).map(({ name, bytes, sha256 }) => {
      const url = `${findBase(request)}${PATH}/${name}`;
      const { language, install } = languageOf(name);
      return { name, language, url, bytes: bytes.length, sha256, install: install(url) };
    });
  const show = async ({ request }: { request: Request }): Promise<Response> => {
    const clients = await list(request);
    if (request.headers.get("accept")?.includes("text/html")) return page(request, clients);
    return jsonResponse({ version, results: clients }, 200, { Vary: "Accept" });
  };
  return new Elysia({ name: "clients" })
    .get(PATH, show, hide)
    .get(`${PATH}/`, show, hide)
    .get(`${PATH}/:name`, ({ request, params }) => sendFile(request, params.name), hide);
}

async function sendFile(request: Request, name: string): Promise<Response> {
  const file = (await clientFiles()).find((one) => one.name === name);
  if (!file) throw new Problem("not_found", "Not found. /clients/ lists the clients of this version.");
  const headers = {
    "Content-Type": languageOf(name).type,
    "Cache-Control": "no-cache",
    ETag: `"${file.sha256}"`,
  };
  const isKnown = request.headers.get("if-none-match") === headers.ETag;
  return isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(Buffer.from(file.bytes), { headers });
}
