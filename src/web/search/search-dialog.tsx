import { useLayoutEffect, useState } from "preact/hooks";
import type { ProteinObject } from "../../scoring/index.ts";
import { href } from "../address.ts";
import { Combobox, type Found as Options } from "../components/combobox.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Icon } from "../components/icon.tsx";
import { listTitle } from "../inventory/declaration.ts";
import { hasLetterShortcuts, TYPING } from "../inventory/shortcuts.tsx";
import { proteinHref } from "../score/protein-identity.tsx";
import { classHref, classTitle, type MotifClass } from "../score/class-link.tsx";
import { ProteinOption } from "../score/protein-search.tsx";
import {
  formatTotal,
  exactRecord,
  type FoundAnywhere,
  recordHref,
  type Result,
  searchAnywhere,
} from "./search.ts";
import { ResultPlace } from "./where.tsx";

/** Results of each list. */
const FEW = 3;

type Option =
  | { kind: "all"; text: string }
  | { kind: "record"; list: string; result: Result; heading: string | undefined }
  | { kind: "protein"; protein: ProteinObject }
  | { kind: "class"; motif: MotifClass };

/** Opens the search of everything; so do Ctrl-K and, where nothing else uses it, a slash. */
export function SearchButton() {
  const [isOpen, setOpen] = useState(false);
  // Before the picture: keys count as soon as the page appears.
  useLayoutEffect(() => {
    // After the shortcuts of the page, which may use the slash.
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target, defaultPrevented } = event;
      const isCommand = (ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k";
      const isSlash =
        key === "/" &&
        !(ctrlKey || metaKey || altKey || defaultPrevented) &&
        !(target as Element).closest(TYPING) &&
        hasLetterShortcuts();
      if ((!isCommand && !isSlash) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <>
      <button
        type="button"
        class="search-open"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K"
        onClick={() => setOpen(true)}
      >
        <Icon name="search" />
        <span>Search records, proteins, motif classes</span>
        <kbd>Ctrl</kbd>
        <kbd>K</kbd>
      </button>
      {isOpen && <SearchDialog onClose={() => setOpen(false)} />}
    </>
  );
}

const SearchDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Search" wide onClose={onClose}>
    <div class="palette">
      <Combobox<Option>
        label="Search"
        hideLabel
        placeholder="A name, a word of a note, or a barcode"
        shown=""
        allowsTypedOnly
        search={async (text, signal) => listOptions(text, await searchAnywhere(text, { limit: FEW }, signal))}
        optionKey={optionKey}
        optionHeading={optionHeading}
        onChoose={(option) => location.assign(optionAddress(option))}
      >
        {(option) => <OptionContent of={option} />}
      </Combobox>
      <p class="hint">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> open. A scanned barcode opens its record.
      </p>
    </div>
  </Dialog>
);

/** A record with exactly this code comes first, so that a scanner, which presses Enter, opens it. */
function listOptions(text: string, { records, proteins, classes }: FoundAnywhere): Options<Option> {
  const exact = records && exactRecord(records);
  const found = [
    ...(records?.groups ?? []).flatMap(({ list, total, more, results }) => {
      const heading = `${listTitle(list)} ${formatTotal({ total, more })}`;
      const others = results.filter((result) => result !== exact?.result);
      return others.map((result): Option => ({ kind: "record", list, result, heading }));
    }),
    ...(proteins?.results ?? []).slice(0, FEW).map((protein): Option => ({ kind: "protein", protein })),
    ...(classes?.results ?? []).map((motif): Option => ({ kind: "class", motif })),
  ];
  const first: Option[] = exact ? [{ kind: "record", ...exact, heading: undefined }] : [];
  const options = [...first, { kind: "all", text: text.trim() } as const, ...found];
  return { options, ...(exact || found.length > 0 ? {} : { note: "Nothing found." }) };
}

function optionKey(option: Option): string {
  switch (option.kind) {
    case "all":
      return "all";
    case "protein":
      return option.protein.accession;
    case "class":
      return `class ${option.motif.name}`;
    case "record":
      return `${option.list} ${option.result.id}`;
  }
}

function optionHeading(option: Option): string | undefined {
  if (option.kind === "class") return "Motif classes";
  return option.kind === "protein" ? "Proteins" : option.kind === "record" ? option.heading : undefined;
}

function optionAddress(option: Option): string {
  switch (option.kind) {
    case "all":
      return href("/search", { q: option.text });
    case "protein":
      return proteinHref(option.protein);
    case "class":
      return classHref(option.motif.name);
    case "record":
      return recordHref(option.list, option.result.id);
  }
}

function OptionContent({ of: option }: { of: Option }) {
  switch (option.kind) {
    case "all":
      return <>All results for “{option.text}”</>;
    case "protein":
      return <ProteinOption of={option.protein} />;
    case "class":
      return (
        <>
          {classTitle(option.motif)} {option.motif.title !== "" && <small>{option.motif.name}</small>}
        </>
      );
    case "record":
      return (
        <>
          {option.result.name || "(no name)"} <ResultPlace of={option.result} />
        </>
      );
  }
}
