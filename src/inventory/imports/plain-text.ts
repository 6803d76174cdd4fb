/** Text of notebooks, which is HTML in most of them, as notes have it. */

const BLOCKS = "p,div,h1,h2,h3,h4,h5,h6,ul,ol,table,tr,pre,blockquote,section,hr,dl,dt,dd,figure,figcaption";
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  deg: "°",
  micro: "µ",
  plusmn: "±",
  times: "×",
  middot: "·",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  rarr: "→",
  alpha: "α",
  beta: "β",
  gamma: "γ",
  delta: "δ",
  Delta: "Δ",
  lambda: "λ",
  mu: "μ",
  Omega: "Ω",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
};
const LAST_CODE_POINT = 0x10ffff;

/** True if a text has tags or entities. */
export const isHtml = (text: string): boolean =>
  /<\/?(?:p|div|br|h[1-6]|[uo]l|li|table|span|strong|em|a|img|pre|code|[bius])[\s/>]|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/i.test(
    text,
  );

/** True if HTML has parts that plain text cannot show. */
export const isRich = (html: string): boolean =>
  /<(?:table|img|svg|math|video|audio|iframe)[\s/>]/i.test(html);

function decodeEntity(whole: string, name: string): string {
  if (!name.startsWith("#")) return ENTITIES[name] ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= LAST_CODE_POINT ? String.fromCodePoint(code).toWellFormed() : whole;
}

/** The characters that entities of HTML or XML stand for. */
export const decodeEntities = (text: string): string =>
  text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi, decodeEntity);

/** The text of HTML with its paragraphs, list items, cells and links; without styles and scripts. */
export function plainText(html: string): string {
  let text = "";
  const add = (more: string): void => {
    text += more;
  };
  const rewriter = new HTMLRewriter()
    .on("*", {
      element(element) {
        if (element.tagName === "br") add("\n");
        else if (element.tagName === "li") add("\n- ");
        else if (element.tagName === "td" || element.tagName === "th") add("\t");
        else if (element.tagName === "img") add(`[${element.getAttribute("alt") || "picture"}]`);
      },
    })
    .on(BLOCKS, {
      element(element) {
        add("\n");
        if (element.tagName !== "hr") element.onEndTag(() => add("\n"));
      },
    })
    .on("a", {
      element(element) {
        const address = element.getAttribute("href") ?? "";
        if (/^https?:/i.test(address)) element.onEndTag(() => add(` (${address})`));
      },
    })
    .on("script,style", {
      element(element) {
        element.remove();
      },
    })
    .onDocument({
      text(chunk) {
        if (!chunk.removed) add(chunk.text.replaceAll(/[\r\n]+/g, " "));
      },
    });
  rewriter.transform(html);
  return decodeEntities(text)
    .replaceAll(/[ \u00a0]+/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
