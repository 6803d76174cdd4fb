import { type TSchema, Type } from "typebox";
import { answerSchema, nullable } from "./schema.ts";

/** Members of every list besides its results. */
export const PAGE_POSITION = {
  previous: nullable(Type.String(), {
    $id: "PreviousPage",
    description: "URL of the previous page; null on the first.",
  }),
  next: nullable(Type.String(), {
    $id: "NextPage",
    description: "URL of the next page; null on the last.",
  }),
  current: Type.Integer({ $id: "PageNumber", minimum: 1, description: "Number of this page, from 1." }),
  total: Type.Integer({ $id: "Total", description: "Number of matching records." }),
  total_pages: Type.Integer({ $id: "TotalPages", description: "Number of pages." }),
};

/** All results in one page. */
export const singlePage = <Item>(results: Item[]) => ({
  previous: null,
  next: null,
  current: 1,
  total: results.length,
  total_pages: 1,
  results,
});

/** The schema of a whole list. */
export const pageSchema = <Item extends TSchema>(description: string, item: Item) =>
  answerSchema(description, { ...PAGE_POSITION, results: Type.Array(item) });
