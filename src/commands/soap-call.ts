import { SaxesParser } from "saxes";
import { Problem } from "../problem.ts";

/** An element of a response, by local name. */
export interface Element {
  name: string;
  text: string;
  children: Element[];
}

/** The first element of this name at or below `element`. */
export const find = (element: Element, name: string): Element | undefined =>
  element.name === name
    ? element
    : element.children.map((child) => find(child, name)).find((found) => found !== undefined);

/** The children of this name. */
export const all = (element: Element, name: string): Element[] =>
  element.children.filter((child) => child.name === name);

/** Text of the first child of this name; empty if there is none. */
export const readText = (element: Element, name: string): string => all(element, name)[0]?.text ?? "";

/** Text as content or as an attribute, also within single quotes of a shell. */
export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");

/**
 * Calls a SOAP 1.1 operation over HTTP. @param values names and values in order; a name may occur repeatedly
 * @throws Problem internal for a fault
 */
export async function soapCall(
  endpoint: string,
  namespace: string,
  operation: string,
  values: [name: string, value: string][],
): Promise<Element> {
  const parts = values.map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`).join("");
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      "Content-Type": "text/xml; charset=utf-8",
      SOAPAction: `"${namespace}/ConservationScorer/${operation}"`,
    },
    body: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${operation} xmlns="${escapeXml(namespace)}">${parts}</${operation}></s:Body></s:Envelope>`,
  });
  const answer = read(await response.text());
  const fault = find(answer, "faultstring")?.text;
  if (fault !== undefined)
    throw new Problem("internal", `${operation} returned a fault: ${fault}`, { cause: fault });
  return answer;
}

function read(xml: string): Element {
  const root: Element = { name: "", text: "", children: [] };
  const open = [root];
  const parser = new SaxesParser({ xmlns: true });
  parser.on("opentag", ({ local }) => {
    const element: Element = { name: local, text: "", children: [] };
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on("text", (text) => void (open.at(-1)!.text += text));
  parser.on("closetag", () => open.pop());
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(xml).close();
  return root;
}
