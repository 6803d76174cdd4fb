/** Help pages and the namespace of an R package, from comments as roxygen2 reads them. */

interface Block {
  /** The comment without its marks. */
  comment: string;
  /** The function that follows; undefined for NULL. */
  name: string | undefined;
  /** Its arguments as they are written. */
  formals: string;
}

interface Page {
  name: string;
  text: string;
}

/** Comments with the functions that follow them. */
function listBlocks(source: string): Block[] {
  const blocks = source.matchAll(/((?:^#'.*\n)+)(?:(?:`?([\w.]+)`?) <- function\(|NULL$)/gm);
  return [...blocks].map(({ 0: whole, 1: comment, 2: name, index }) => ({
    comment: comment.replaceAll(/^#' ?/gm, ""),
    name,
    formals:
      name === undefined
        ? ""
        : source.slice(index + whole.length, endOfFormals(source, index + whole.length)),
  }));
}

function endOfFormals(source: string, start: number): number {
  let depth = 1;
  let at = start;
  for (; depth > 0; at++) depth += source[at] === "(" ? 1 : source[at] === ")" ? -1 : 0;
  return at - 1;
}

/** The values of a tag such as `@param`, which continue until the next tag. */
const listTags = ({ comment }: Block, tag: string): string[] =>
  [...comment.matchAll(new RegExp(`^@${tag}\\b ?([^]*?)(?=^@|(?![^]))`, "gm"))].map(([, value]) =>
    value.trim(),
  );

const METHOD = /^(print|format|str)\.([\w.]+)$/;

/** The file NAMESPACE: exported functions, and methods of generic functions. */
export function listExports(sources: readonly string[]): string {
  const exported = sources
    .flatMap(listBlocks)
    .filter((block) => block.name !== undefined && /^@export$/m.test(block.comment))
    .map(({ name }) => {
      const [, generic, kind] = METHOD.exec(name!) ?? [];
      return generic ? `S3method(${generic}, ${kind})` : `export(${name})`;
    });
  return `${[...exported.toSorted(), "importFrom(utils, str)"].join("\n")}\n`;
}

/** A page for each function that is exported, or for several with the same `@rdname`. */
export function makeHelpPages(sources: readonly string[]): Page[] {
  const pages = Map.groupBy(sources.flatMap(listBlocks), (block) => pageName(block) ?? "");
  return [...pages].filter(([name]) => name !== "").map(([name, blocks]) => makePage(name, blocks));
}

function pageName(block: Block): string | undefined {
  if (block.name !== undefined && METHOD.test(block.name)) return undefined;
  return listTags(block, "rdname")[0] ?? listTags(block, "name")[0] ?? block.name;
}

/** The page of a function, or of several: the first block has the text. */
function makePage(name: string, blocks: readonly Block[]): Page {
  const [title, ...paragraphs] = blocks[0].comment
    .split(/^@/m)[0]
    .trim()
    .split(/\n{2,}/);
  const functions = blocks.filter((block) => block.name !== undefined);
  const usage = functions.map((block) => `${block.name}(${escapeCode(block.formals)})`).join("\n\n");
  const tags = (tag: string): string[] => [...new Set(blocks.flatMap((block) => listTags(block, tag)))];
  const items = (tag: string): string[] =>
    tags(tag).map((value) => {
      const [, item, text] = /^(\S+)\s+([^]*)$/.exec(value)!;
      const label = item.split(",").map((one) => (one === "..." ? "\\dots" : one));
      return `\\item{${label.join(",")}}{${toRd(text)}}`;
    });
  const fields = items("field");
  const [examples] = tags("examples");
  const sections = [
    `\\name{${name}}`,
    ...functions.map((block) => `\\alias{${block.name}}`),
    `\\title{${toRd(title)}}`,
    `\\usage{\n${usage}\n}`,
    `\\arguments{\n${items("param").join("\n")}\n}`,
    `\\value{\n${toRd(tags("return")[0] ?? "")}\n}`,
    `\\description{\n${toRd(paragraphs[0] ?? title)}\n}`,
    ...(paragraphs.length > 1 ? [`\\details{\n${paragraphs.slice(1).map(toRd).join("\n\n")}\n}`] : []),
    ...(fields.length > 0 ? [`\\section{Fields}{\n\\describe{\n${fields.join("\n")}\n}\n}`] : []),
    ...(examples === undefined ? [] : [`\\examples{\n\\dontrun{\n${escapeCode(examples)}\n}\n}`]),
  ];
  return {
    name,
    text: `% Generated from comments of the sources.\n\\encoding{UTF-8}\n${sections.join("\n")}\n`,
  };
}

const escapeCode = (code: string): string => code.replaceAll("\\", "\\\\").replaceAll("%", "\\%");

/** Text of a comment, in which code stands in backticks. */
const toRd = (text: string): string =>
  text
    .replaceAll("\\", "\\\\")
    .replaceAll(/[%{}]/g, "\\$&")
    .replaceAll(/`([^`]*)`/g, "\\code{$1}");
