import { basename, join } from "node:path";
import { helpPictures, makeHelp } from "./make-help.ts";
import { HELP_TOPICS } from "./help-topics.ts";

export interface Asset {
  /** Contains a hash of the content. */
  name: string;
  contentType: string;
  /** Compressed with gzip, in Base64. */
  gzip: string;
}

export interface Bundle {
  assets: readonly Asset[];
  /** Name of the style sheet of all pages. */
  style: string;
  /** Scripts of each page by the name of its file: its own first, then imported ones. */
  scripts: Readonly<Record<string, readonly string[]>>;
  /** Files for use without a network: the script of the service worker, and the assets that it keeps. */
  offline: { worker: string; assets: readonly string[] };
  /** Names of the pictures of the installed application, by their size in pixels. */
  icons: Readonly<Record<string, string>>;
  /** Texts of `/help` by topic: HTML, compressed with gzip, in Base64. */
  help: Readonly<Record<string, string>>;
}

const WEB_FOLDER = import.meta.dir;
const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  wasm: "application/wasm",
  webp: "image/webp",
  png: "image/png",
};

/** Bundles every file of `pages/` as the script of a page; code that several pages import becomes a shared script. */
export async function makeBundle(): Promise<Bundle> {
  const pages = [...new Bun.Glob("*.tsx").scanSync(join(WEB_FOLDER, "pages"))].sort();
  const scripts = await build(pages.map((page) => join(WEB_FOLDER, "pages", page)));
  const [style] = await build([join(WEB_FOLDER, "style/index.css")]);
  const texts = new Map(scripts.map(({ name, content }) => [name, content.toString()]));
  const named: Record<string, string[]> = {};
  for (const { name, page } of scripts) if (page !== null) named[page] = withImports(name, texts);
  const [pictures, icons] = await Promise.all([readPictures(helpPictures()), readPictures(iconFiles())]);
  const [worker] = await build([join(WEB_FOLDER, "offline/service-worker.ts")]);
  return {
    offline: {
      worker: worker.content.toString(),
      assets: [...new Set([style.name, ...OFFLINE_PAGES.flatMap((page) => withAll(named[page][0], texts))])],
    },
    assets: [...scripts, style, ...pictures.values(), ...icons.values()].map(({ name, content }) =>
      makeAsset(name, content),
    ),
    style: style.name,
    scripts: named,
    icons: Object.fromEntries(Array.from(icons, ([size, { name }]) => [size, name])),
    help: await makeHelpTexts((path) => `/assets/${pictures.get(path)!.name}`),
  };
}

/** Pages that work without a network. */
const OFFLINE_PAGES = ["scan", "stocktake", "offline"];

/** The icons of the installed application, by their size in pixels. */
const iconFiles = (): Map<string, Bun.BunFile> =>
  new Map(["192", "512"].map((size) => [size, Bun.file(join(WEB_FOLDER, `icons/icon-${size}.png`))]));

/** Pictures with names for the browser, by the keys of their files. */
async function readPictures(
  pictures: ReadonlyMap<string, Bun.BunFile>,
): Promise<Map<string, Pick<Output, "name" | "content">>> {
  const files = Array.from(pictures, async ([key, file]) => {
    const content = Buffer.from(await file.arrayBuffer());
    const hash = Bun.hash(content).toString(36);
    return [key, { name: basename(file.name!).replace(/\.(\w+)$/, `-${hash}.$1`), content }] as const;
  });
  return new Map(await Promise.all(files));
}

async function makeHelpTexts(picture: (path: string) => string): Promise<Record<string, string>> {
  const texts = HELP_TOPICS.map(async ({ name }) => [name, compress(await makeHelp(name, picture))] as const);
  return Object.fromEntries(await Promise.all(texts));
}

interface Output {
  name: string;
  content: Buffer<ArrayBuffer>;
  /** Name of the page; null for a chunk that pages share. */
  page: string | null;
}

async function build(entrypoints: string[]): Promise<Output[]> {
  const result = await Bun.build({
    entrypoints,
    target: "browser",
    format: "esm",
    minify: true,
    splitting: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "part-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    jsx: { runtime: "automatic", importSource: "preact", development: false },
  });
  if (!result.success || result.logs.length > 0)
    throw new AggregateError(result.logs, "Bundling the pages failed.");
  return Promise.all(
    result.outputs.map(async (output) => {
      const name = output.path.replace(/^.*\//, "");
      const page = output.kind === "entry-point" ? name.replace(/-[^-]*$/, "") : null;
      return { name, content: Buffer.from(await output.arrayBuffer()), page };
    }),
  );
}

/** A script and all that it imports when it is loaded, itself first. */
const withImports = (name: string, texts: ReadonlyMap<string, string>): string[] =>
  closure(name, texts, /(?:from|import)\s*"\.\/([^"]+)"/g);

/** The modules with those loaded later, such as zxing-wasm and its WebAssembly. */
const withAll = (name: string, texts: ReadonlyMap<string, string>): string[] =>
  closure(name, texts, /"\.\/([^"/]+\.(?:js|wasm))"/g);

function closure(name: string, texts: ReadonlyMap<string, string>, references: RegExp): string[] {
  const found = [name];
  for (const script of found) {
    for (const [, imported] of (texts.get(script) ?? "").matchAll(references)) {
      if (!found.includes(imported)) found.push(imported);
    }
  }
  return found;
}

function makeAsset(name: string, content: Buffer<ArrayBuffer>): Asset {
  return {
    name,
    contentType: TYPES[name.split(".").at(-1)!],
    gzip: compress(content),
  };
}

const compress = (content: Buffer<ArrayBuffer> | string): string =>
  Bun.gzipSync(content, { level: 9 }).toBase64();
