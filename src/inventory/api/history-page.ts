import type { Json } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIMITS } from "../model/limits.ts";
import { invalidPage, parseSize } from "../model/listing.ts";
import { pageCount, pageInfo } from "../model/page.ts";
import type { HistoryPage } from "../records/history.ts";
import { type Call, requestUrl } from "./call.ts";
import { showValue } from "./render.ts";

const TOO_LONG = `max returns at most ${LIMITS.rows.max} entries of a history. Request pages: page_size=${LIMITS.rows.max}&page=1.`;

/** One page of a history, with the members of `before` first. @throws Problem invalid_request */
export function paged(
  call: Call,
  read: (limit: number, offset: number) => HistoryPage,
  before: { [name: string]: Json } = {},
): Response {
  const { searchParams } = call.url;
  const size = parseSize(searchParams.get("page_size"));
  const given = searchParams.get("page") ?? "1";
  if (!/^[1-9]\d{0,9}$/.test(given)) throw invalidPage();
  const current = Number(given);
  const { total, results } = call.store.statements.reading(() =>
    size === "max" ? read(LIMITS.rows.max, 0) : read(size, (current - 1) * size),
  );
  if (size === "max" && total > LIMITS.rows.max) throw parameterProblem("page_size", TOO_LONG);
  if (current > pageCount(total, size)) throw invalidPage();
  return showValue(call, {
    ...before,
    ...pageInfo(requestUrl(call), searchParams, current, total, size),
    results,
  });
}
