import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface Appearance {
  look?: "primary" | "plain" | "quiet" | "danger";
  small?: boolean | undefined;
  icon?: IconName | undefined;
  children?: ComponentChildren;
}

interface ButtonProps extends Appearance, Omit<ButtonHTMLAttributes, "class" | "type" | "disabled" | "icon"> {
  /** Something runs: the button cannot be pressed again but keeps the focus, which a disabled one would lose. */
  busy?: boolean;
  disabled?: boolean | undefined;
  type?: "button" | "submit";
}

const classNames = ({ look = "plain", small, icon, children }: Appearance): string =>
  [
    "btn",
    look !== "plain" && `btn-${look}`,
    small && "btn-small",
    icon && children === undefined && "btn-icon",
  ]
    .filter(Boolean)
    .join(" ");

/** A button; one with an icon and no text needs an `aria-label`. */
export function Button(props: ButtonProps) {
  const { look: _look, small: _small, icon, busy = false, type = "button", onClick, ...rest } = props;
  return (
    <button
      {...rest}
      type={type}
      class={classNames(props)}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon && <Icon name={icon} />}
      {props.children}
    </button>
  );
}

/** A link that looks like a button: it leads somewhere and changes nothing. */
export function LinkButton(props: Appearance & { href: string; download?: string; "aria-label"?: string }) {
  const { look: _look, small: _small, icon, children, ...rest } = props;
  return (
    <a {...rest} class={classNames(props)}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

/** A small button with an icon, which needs a label for screen readers. */
export const IconButton = ({
  label,
  ...rest
}: { icon: IconName; label: string } & Pick<ButtonProps, "onClick" | "disabled">) => (
  <Button look="quiet" small aria-label={label} {...rest} />
);
