import { join } from "node:path";
import { HELP_TOPICS } from "./help-topics.ts";
import { toHtml } from "./markdown.ts";

const DOCS = join(import.meta.dir, "../../docs");

/** HTML of a topic, without its heading. `picture` gives the address of a picture of `docs/`. */
export async function makeHelp(name: string, picture: (path: string) => string): Promise<string> {
  const markdown = await Bun.file(join(DOCS, `${name}.md`)).text();
  return toHtml(markdown)
    .replace(/<h1.*?<\/h1>\n/s, "")
    .replaceAll(/<!--.*?-->\n?/gs, "")
    .replaceAll(/<img src="([^"]+)"/g, (_, path: string) => `<img loading="lazy" src="${picture(path)}"`)
    .replaceAll(/<a href="([^"]*)">(.*?)<\/a>/gs, (link, address: string, text: string) => {
      const [, topic, anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(address) ?? [];
      const title = HELP_TOPICS.find(({ name }) => name === topic)?.title;
      const target = `/help/${topic}${anchor}`;
      if (title) return `<a href="${target}">${text === `${topic}.md` ? title : text}</a>`;
      return /^(#|https:)/.test(address) ? link : text;
    });
}

/** The pictures of the documentation, by their paths there. */
export const helpPictures = (): Map<string, Bun.BunFile> =>
  new Map(
    Array.from(
      new Bun.Glob("images/*").scanSync(DOCS),
      (path) => [path, Bun.file(join(DOCS, path))] as const,
    ),
  );
