import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

type Look = "primary" | "plain" | "quiet" | "danger";

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "type" | "disabled"> {
  look?: Look;
  /** Something runs: it cannot be pressed again, and says so. */
  busy?: boolean;
  disabled?: boolean | undefined;
  type?: "button" | "submit";
  children?: ComponentChildren;
}

/** A button. While `busy` it keeps the focus, which a disabled one would lose. */
export function Button({ look = "plain", busy = false, type = "button", onClick, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={look}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}

/** A link that looks like a button: it leads somewhere and changes nothing. */
export function LinkButton({
  look = "plain",
  ...rest
}: {
  look?: Look;
  href: string;
  download?: string;
  children: ComponentChildren;
}) {
  return <a {...rest} class={`button ${look}`} />;
}
