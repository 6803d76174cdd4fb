/** Requests at random, valid and not, as trees that are written out in one of the many ways XML has. */

export { seededRandom as random } from "../../../src/motif/random.ts";
export type Random = () => number;

export const pick = <T>(next: Random, items: readonly T[]): T => items[Math.floor(next() * items.length)];
const chance = (next: Random, p: number): boolean => next() < p;

interface Node {
  name: string;
  /** Prefix to write: `t` is the service's namespace, "" the default one, `f` a foreign one. */
  prefix: string;
  attributes: string[];
  /** Markup, or child elements with the markup between them. */
  content: (Node | string)[];
}

const AMINO = "ACDEFGHIKLMNPQRSTVWY";
/** Characters and references of which some are allowed in some values. */
const ODD = [
  ...String.raw`a k 0 * - _ \ / : = ! ~ ' B J O U X Z &#10; &#13; &#9; &#32; &#65; &#x41; &#97; &amp; &lt; &gt; ]]&gt; . ^ $ [ ] { } ( ) | ? + ,`.split(
    " ",
  ),
  ..."\u00A0 \u0085 \u2028 \u200B \uFEFF \uFF21 \u0410 \u212A \u0130 \u00DF \u{1D400}".split(" "),
  "\n",
  "\r\n",
  "\t",
  "\r",
];

const text = (next: Random, alphabet: string, most: number): string =>
  Array.from({ length: Math.floor(next() * most) }, () => pick(next, [...alphabet])).join("");

function leaf(name: string, content: string): Node {
  return { name, prefix: "", attributes: [], content: [content] };
}

function runJob(next: Random): Node {
  const many = (most: number): null[] => Array.from({ length: Math.floor(next() * (most + 1)) }, () => null);
  const children = [
    leaf("identifier", text(next, "abc é中-_.:;'\"\n\t", 12)),
    leaf("querySequence", text(next, `${AMINO}BJOUXZ  \n\t`, 30)),
    leaf("scoringModel", pick(next, ["continuous", "discontinuous", ""])),
    ...many(5).map(() => leaf("regularExpression", text(next, `${AMINO}0123456789.,^$*+?|[]{}() \n`, 12))),
    ...many(5).map(() => leaf("elmIdentifierName", text(next, "ABCxyz019-_", 12))),
  ];
  return { name: "RunJob", prefix: "", attributes: [], content: children };
}

function request(next: Random): Node {
  if (chance(next, 0.7)) return runJob(next);
  const name = pick(next, ["GetStatus", "GetResult"]);
  return {
    name,
    prefix: "",
    attributes: [],
    content: [leaf("JobIdentifier", text(next, "0123456789abcdef-é *%", 20))],
  };
}

const children = (node: Node): Node[] =>
  node.content.filter((child): child is Node => typeof child !== "string");
const makeValue = (next: Random, root: Node): Node =>
  pick(next, children(root).length > 0 ? children(root) : [root]);

/** Places in the text of a value where markup may be put without cutting a reference. */
function insert(next: Random, node: Node, markup: string): void {
  const first = node.content.findIndex((part) => typeof part === "string");
  if (first < 0) return void node.content.push(markup);
  const before = node.content[first] as string;
  const spots = [
    ...before.replace(/&[^;]*;|<[^>]*>|[\uD800-\uDBFF][\uDC00-\uDFFF]/g, (m) => "\0".repeat(m.length)),
  ]
    .map((character, i) => (character === "\0" ? -1 : i))
    .filter((i) => i >= 0);
  const spot = pick(next, [...spots, before.length]);
  node.content[first] = before.slice(0, spot) + markup + before.slice(spot);
}

const ATTRIBUTES = `
xsi:nil="true"  xsi:nil="false"  xsi:nil="1"
xsi:type="xs:string"  xsi:type="t:ScoringModel"  xsi:type="t:QuerySequence"
xsi:type="xs:int"  xsi:type="nowhere:string"  xsi:schemaLocation="urn:a b"
xsi:noNamespaceSchemaLocation="c"  id="x"  xml:lang="en"
f:id="x"  xmlns:new="urn:new"  t:id="1"`
  .trim()
  .split(/ {2}|\n/);

/** Changes that the schema may or may not mind; whether it does is for the oracle to say. */
const SCHEMA_CHANGES: ((next: Random, root: Node) => void)[] = [
  (next, root) => insert(next, makeValue(next, root), pick(next, ODD)),
  (next, root) => insert(next, makeValue(next, root), pick(next, ODD)),
  (next, root) =>
    insert(
      next,
      makeValue(next, root),
      pick(next, ["<!-- c -->", "<![CDATA[]]>", "<![CDATA[AC]]>", "<![CDATA[ac&]]>"]),
    ),
  (next, root) => void root.content.splice(Math.floor(next() * root.content.length), 1),
  (next, root) =>
    void root.content.splice(
      Math.floor(next() * root.content.length),
      0,
      structuredClone(makeValue(next, root)),
    ),
  (next, root) => void root.content.push(structuredClone(makeValue(next, root))),
  (next, root) => {
    for (let i = 0; i < 5; i++)
      root.content.push(leaf(pick(next, ["elmIdentifierName", "regularExpression"]), "A"));
  },
  (next, root) => void root.content.reverse(),
  (next, root) =>
    void root.content.splice(
      Math.floor(next() * (root.content.length + 1)),
      0,
      pick(next, ["x", " ", "\n", "&#32;", "&#160;", "<![CDATA[ ]]>", "<![CDATA[x]]>", "<!--x-->"]),
    ),
  (next, root) => {
    makeValue(next, root).name = pick(next, [
      "JobIdentifier",
      "querySequence",
      "Identifier",
      "foo",
      "scoringModel",
      "__proto__",
      "constructor",
    ]);
  },
  (next, root) => {
    root.name = pick(next, ["RunJob", "GetStatus", "GetResult", "runJob", "Foo", "__proto__"]);
  },
  (next, root) => {
    makeValue(next, root).prefix = pick(next, ["f", "none", "t"]);
  },
  (next, root) => {
    root.prefix = pick(next, ["f", "t"]);
  },
  (next, root) => void pick(next, [root, makeValue(next, root)]).attributes.push(pick(next, ATTRIBUTES)),
  (next, root) => void makeValue(next, root).content.push(leaf(pick(next, ["a", "identifier"]), "")),
  (next, root) => {
    for (const child of children(root))
      if (child.name === "scoringModel") {
        child.content = [
          pick(next, [
            "Continuous",
            " continuous",
            "continuous\n",
            "continuousdiscontinuous",
            "con<!-- -->tinuous",
            "c&#111;ntinuous",
            "<![CDATA[continuous]]>",
            "<![CDATA[]]>",
            " ",
            "<!-- -->",
          ]),
        ];
      }
  },
];

/** Markup that breaks a document, or does not. */
const BROKEN = [
  ...`< > & ]]> &nbsp; &#0; &#xFFFE; &#x110000; &#xD800; &#1e1; &#X41; &; " <a:b/> <1/> </x> <x> <!---> --`.split(
    " ",
  ),
  ..."\u0001\uFFFE\u007F\u0080",
  "& ",
  "<!-- -- -->",
  "<?xml version='1.0'?>",
  "<?XML a?>",
];

/** Changes that leave no well-formed document, or do: the oracle says. */
const SYNTAX_CHANGES: ((next: Random, xml: string) => string)[] = [
  (next, xml) => xml.slice(0, Math.floor(next() * xml.length)),
  (next, xml) => splice(next, xml, pick(next, BROKEN)),
  (_, xml) => `${xml}<a/>`,
  (_, xml) => `${xml}\n<!-- end -->\n`,
  (_, xml) => `${xml}x`,
  (_, xml) => ` ${xml}`,
  (_, xml) => xml.replace(/<([A-Za-z:]+)/, '<$1 a="1" a="2"'),
  (_, xml) => xml.replace(/<([A-Za-z:]+)/, '<$1 xmlns:p="urn:q" xmlns:q="urn:q" p:a="1" q:a="2"'),
  (_, xml) => xml.replace(/<([A-Za-z:]+)/, "<$1 a=1"),
  (_, xml) => xml.replace(/<([A-Za-z:]+)/, '<$1 a="<"'),
  (_, xml) => xml.replace(/<([A-Za-z:]+)/, '<$1 xmlns:p=""'),
  (_, xml) => xml.replace(/<([A-Za-z:]+)/, '<$1 xmlns:xmlns="urn:x"'),
  (_, xml) => xml.replace(/<([A-Za-z:]+)/, '<$1 xml:space="preserve"xml:lang="en"'),
];

function splice(next: Random, xml: string, markup: string): string {
  const spot = Math.floor(next() * (xml.length + 1));
  return xml.slice(0, spot) + markup + xml.slice(spot);
}

function print(next: Random, node: Node, namespace: string, isRoot: boolean, style: string): string {
  const prefix = node.prefix === "" ? style : node.prefix;
  const own = prefix === "" || prefix === "none" ? "" : `${prefix}:`;
  const declared = isRoot
    ? [
        `xmlns:t="${namespace}"`,
        'xmlns:f="urn:foreign"',
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
        'xmlns:xs="http://www.w3.org/2001/XMLSchema"',
        `xmlns="${namespace}"`,
      ]
    : [];
  if (prefix === "none") declared.push('xmlns=""');
  const attributes = [...declared, ...node.attributes].map(
    (attribute) => `${pick(next, [" ", "\n", "  "])}${attribute}`,
  );
  const content = node.content
    .map((part) => (typeof part === "string" ? part : print(next, part, namespace, false, style)))
    .join(isRoot ? pick(next, ["", "\n", "\t "]) : "");
  const tag = `${own}${node.name}`;
  if (content === "" && chance(next, 0.5)) return `<${tag}${attributes.join("")}/>`;
  return `<${tag}${attributes.join("")}>${content}</${tag}${pick(next, ["", " "])}>`;
}

/** The element of one request, without its envelope. */
export function randomRequest(next: Random, namespace: string): string {
  const root = request(next);
  const changes = pick(next, [0, 0, 1, 1, 1, 2]);
  for (let i = 0; i < changes; i++) pick(next, SCHEMA_CHANGES)(next, root);
  const xml = print(next, root, namespace, true, pick(next, ["", "t"]));
  return chance(next, 0.12) ? pick(next, SYNTAX_CHANGES)(next, xml) : xml;
}
