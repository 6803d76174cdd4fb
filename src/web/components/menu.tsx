import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

/** A button that opens a menu of links and buttons below it; a click elsewhere, a choice or Escape closes it. */
export function Menu(props: {
  label: string;
  /** Shows the label as text; otherwise only an icon. */
  text?: boolean;
  small?: boolean;
  /** Draws a border, for menus beside other buttons. */
  plain?: boolean;
  icon?: IconName;
  onOpen?: () => void;
  children: ComponentChildren;
}) {
  const id = useId();
  const { label, text = false, small = false, plain = false, icon = "ellipsis", onOpen } = props;
  const isQuiet = !text && !plain;
  const looks = ["btn", !text && "btn-icon", isQuiet && "btn-quiet", (small || isQuiet) && "btn-small"];
  return (
    <>
      <button type="button" class={looks.filter(Boolean).join(" ")} aria-label={label} popovertarget={id}>
        <Icon name={icon} />
        {text && label}
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
