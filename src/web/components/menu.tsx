import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

/** A button that opens a menu of links and buttons below it; a click elsewhere, a choice or Escape closes it. */
export function Menu(props: {
  label: string;
  /** Shows the label as text; otherwise only an icon. */
  text?: boolean;
  small?: boolean;
  icon?: IconName;
  onOpen?: () => void;
  children: ComponentChildren;
}) {
  const id = useId();
  const { label, text = false, small = false, icon = "ellipsis", onOpen } = props;
  return (
    <>
      <button
        type="button"
        class={text ? `btn ${small ? "btn-small" : ""}` : "btn btn-quiet btn-small btn-icon"}
        aria-label={label}
        popovertarget={id}
      >
        {text && label}
        <Icon name={icon} />
      </button>
      <div
        id={id}
        class="menu-body"
        popover="auto"
        onToggle={(event) => event.newState === "open" && onOpen?.()}
        onClick={(event) =>
          (event.target as Element).closest("a, button") && event.currentTarget.hidePopover()
        }
      >
        {props.children}
      </div>
    </>
  );
}
