import { useState } from "preact/hooks";
import { Banner } from "../components/banner.tsx";
import { Button, IconButton } from "../components/button.tsx";
import { TextArea } from "../components/field.tsx";
import { Card } from "../components/layout.tsx";
import { useQuery } from "../page.tsx";
import type { Declaration } from "./declaration.ts";
import { comparison, everything, type Group, printExpression, readExpression } from "./expression.ts";
import { FilterBuilder } from "./filter-builder.tsx";

/** The advanced filter: conditions, and the same as text. */
export function FilterPanel({ of, onClose }: { of: Declaration; onClose: () => void }) {
  const [search, setQuery] = useQuery();
  const given = search.get("query_expression") ?? "";
  const empty: Group = { ...everything(), parts: [comparison(of.key)] };
  const [text, setText] = useState(given);
  // Conditions that are not complete yet are not part of the text.
  const [group, setGroup] = useState(() => {
    const read = readExpression(given);
    return read && read.parts.length > 0 ? read : empty;
  });
  const isValid = readExpression(text) !== undefined;
  const apply = (expression: string): void => setQuery({ query_expression: expression, page: null });
  return (
    <form
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply(text);
      }}
    >
      <Card
        title="Filter"
        actions={<IconButton icon="x" label="Close the filter" onClick={onClose} />}
        foot={
          <>
            <Button look="primary" type="submit">
              Apply
            </Button>
            <Button
              onClick={() => {
                setGroup(empty);
                setText("");
                apply("");
              }}
            >
              Clear
            </Button>
          </>
        }
      >
        {isValid ? (
          <FilterBuilder
            of={of}
            group={group}
            onChange={(changed) => {
              setGroup(changed);
              setText(printExpression(changed));
            }}
          />
        ) : (
          <Banner tone="warn">The expression is not valid. Correct it, or clear the filter.</Banner>
        )}
        <details open={!isValid}>
          <summary>As text</summary>
          <TextArea
            label="Expression"
            hint='Objects with "category", "operator" and "value", separated by commas; also {"and": […]}, {"or": […]}, {"not": …}.'
            code
            rows={3}
            spellcheck={false}
            value={text}
            onInput={(typed) => {
              setText(typed);
              const read = readExpression(typed);
              if (read) setGroup(read);
            }}
          />
        </details>
      </Card>
    </form>
  );
}
