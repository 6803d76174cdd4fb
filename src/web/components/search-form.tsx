import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";

/** Most characters that the services search for. */
export const MAX_QUERY_LENGTH = 200;

interface SearchFormProps {
  /** Words in force. */
  q: string;
  placeholder: string;
  onSearch: (text: string) => void;
}

/** A field for words to search for, and the button that does. */
export function SearchForm({ q, placeholder, onSearch }: SearchFormProps) {
  const [text, setText] = useState(q);
  return (
    <form
      class="search-form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text.trim());
      }}
    >
      <TextField
        label="Search"
        hideLabel
        type="search"
        placeholder={placeholder}
        value={text}
        maxLength={MAX_QUERY_LENGTH}
        autocomplete="off"
        autocapitalize="none"
        focus={q === ""}
        onInput={setText}
      />
      <Button type="submit" look="primary" icon="search">
        Search
      </Button>
    </form>
  );
}
