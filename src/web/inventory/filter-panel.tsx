import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { TextArea } from "../components/field.tsx";
import type { SetQuery } from "../page.tsx";
import type { Declaration } from "./declaration.ts";
import { comparison, everything, printExpression, readExpression } from "./expression.ts";
import { FilterBuilder } from "./filter-builder.tsx";

/** The advanced filter: conditions to put together, and the text that they are, each of which changes the other. */
export function FilterPanel(props: {
  of: Declaration;
  text: string;
  setQuery: SetQuery;
  onClose: () => void;
}) {
  const { of, setQuery } = props;
  const [group, setGroup] = useState(() => {
    const read = readExpression(props.text) ?? everything();
    return read.parts.length > 0 ? read : { ...read, parts: [comparison(of.key)] };
  });
  const [text, setText] = useState(props.text);
  const tree = readExpression(text);
  useEffect(() => {
    setText(props.text);
    const read = readExpression(props.text);
    if (read && read.parts.length > 0) setGroup(read);
  }, [props.text]);
  const apply = (expression: string): void => setQuery({ query_expression: expression, page: null });
  return (
    <form
      class="card filter-panel"
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply(text);
      }}
    >
      {tree ? (
        <FilterBuilder
          of={of}
          group={group}
          onChange={(changed) => {
            setGroup(changed);
            setText(printExpression(changed));
          }}
        />
      ) : (
        <p class="note warn">
          The text below is none that conditions can be made of. Correct it, or <strong>clear</strong> it and
          begin anew.
        </p>
      )}
      <details open={!tree}>
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
      <p class="row">
        <Button look="primary" type="submit">
          Apply
        </Button>
        <Button
          onClick={() => {
            setGroup({ ...everything(), parts: [comparison(of.key)] });
            setText("");
            apply("");
          }}
        >
          Clear
        </Button>
        <Button look="quiet" onClick={props.onClose}>
          Close
        </Button>
      </p>
    </form>
  );
}
