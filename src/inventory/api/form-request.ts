import type { Answers } from "./respond.ts";
import { browsableProblem } from "./browsable.ts";
import { FROM_FORM } from "./browsable-forms.ts";
import { isForm, readFields } from "./request-body.ts";
import type { RoutedResource } from "../resources/index.ts";
import { Problem } from "../../problem.ts";

/**
 * What browsers send from the forms of the browsable pages, put into the words of the interface: a form in the body of
 * a POST with `_method`, `_content` (JSON) and the ids of chosen records becomes the request that a program would send,
 * with the same headers, so that who calls and whether a page of ours asks is found out as ever. The answer to a write
 * is the address to read next, so that loading the page again writes nothing again.
 */
export function withForms(answers: Answers, maxBytes: number): Answers {
  /** Sends the form on, and then the browser to `next`; what is refused is shown as a page. */
  const written = async (
    request: Request,
    resource: RoutedResource,
    next: string,
    send: (request: Request) => Promise<Response> | Response,
  ): Promise<Response> => {
    try {
      const response = await send(request);
      const to = response.headers.get("location") ?? next;
      return new Response(null, {
        status: 303,
        headers: { Location: `${to}?format=api`, "Cache-Control": "no-store" },
      });
    } catch (error) {
      const problem = Problem.from(error);
      if (problem.code === "internal") throw error;
      return browsableProblem(problem, resource, request.url);
    }
  };

  return {
    ...answers,
    async collection(request, resource) {
      if (request.method === "GET" && request.url.includes(`${FROM_FORM}=`)) {
        const url = new URL(request.url, "http://localhost");
        const given = [...url.searchParams].filter(([name, value]) => value !== "" && name !== FROM_FORM);
        // Relative: behind a proxy the path may have more before it.
        const location = `?${new URLSearchParams(given).toString()}`;
        return new Response(null, { status: 303, headers: { Location: location } });
      }
      if (request.method !== "POST" || !isForm(request)) return answers.collection(request, resource);
      return written(request, resource, "", async () => {
        const fields = await readFields(request, maxBytes);
        const method = methodOf(fields);
        const content = fields.get("_content") ?? "";
        const ids = fields.getAll("id");
        if (method === "POST") return answers.collection(asJson(request, "POST", content), resource);
        if (ids.length === 0)
          throw new Problem("invalid_request", "id: Choose at least one record.", {
            fields: { id: ["Choose at least one record."] },
          });
        if (method === "DELETE")
          return answers.bulkDelete(asJson(request, "DELETE", JSON.stringify({ ids })), resource);
        // The content is read as JSON where all bodies are; here it only gets its ids.
        const bare = content.trim().replace(/^\{/, "").trim();
        const items = `{"items": ${JSON.stringify(ids)}${bare === "}" ? "" : ", "}${bare}`;
        return answers.collection(asJson(request, "PATCH", items), resource);
      });
    },
    async item(request, resource, id) {
      if (request.method !== "POST" || !isForm(request)) return answers.item(request, resource, id);
      const fields = await readFields(request, maxBytes);
      const next = fields.get("_method") === "DELETE" ? "../../" : "";
      return written(request, resource, next, () => {
        const method = methodOf(fields);
        const body = method === "DELETE" ? "" : (fields.get("_content") ?? "");
        return answers.item(asJson(request, method, body), resource, id);
      });
    },
  };
}

/** The request that the form stands for. */
function asJson(request: Request, method: string, body: string): Request {
  const headers = new Headers(request.headers);
  headers.set("Content-Type", "application/json");
  headers.set("Accept", "application/json");
  headers.delete("Content-Length");
  return new Request(new URL(request.url, "http://localhost"), {
    method,
    headers,
    ...(body === "" ? {} : { body }),
  });
}

/** @throws Problem method_not_allowed */
function methodOf(fields: URLSearchParams): string {
  const method = (fields.get("_method") ?? "POST").toUpperCase();
  if (["POST", "PUT", "PATCH", "DELETE"].includes(method)) return method;
  throw new Problem("method_not_allowed", "A form sends POST, PUT, PATCH or DELETE.", {
    allow: "POST, PUT, PATCH, DELETE",
  });
}
