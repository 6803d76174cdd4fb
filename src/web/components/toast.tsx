import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** Short messages at the foot of the page, which screen readers announce. */

type Tone = "ok" | "error";
interface ToastAction {
  label: string;
  run: () => void;
}
interface Toast {
  id: number;
  text: string;
  tone: Tone;
  actions: ToastAction[];
}

const SECONDS = 8;
let last = 0;
let shown: Toast[] = [];
/**
 * The regions of toasts: the page and each open dialog, since nothing outside a dialog can be clicked. The last region
 * shows the toasts.
 */
const outlets: ((shown: Toast[]) => void)[] = [];

const show = (toasts: Toast[]): void => {
  shown = toasts;
  for (const outlet of outlets) outlet(outlet === outlets.at(-1) ? shown : []);
};

/** Shows a message: `showToast("Moved 12 records", "ok", { label: "Undo", run })`. Errors stay until closed. */
export function showToast(text: string, tone: Tone = "ok", ...actions: ToastAction[]): void {
  const id = ++last;
  show([...shown.slice(-2), { id, text, tone, actions }]);
  if (tone === "ok") setTimeout(() => dismiss(id), SECONDS * 1000);
}

/** Runs an action of a page, and shows its error, if any, as a toast. */
export async function withErrorToast(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    showToast((error as Error).message, "error");
  }
}

const dismiss = (id: number): void => show(shown.filter((toast) => toast.id !== id));

/** The region of toasts. The live region must exist before the first message. */
export function Toasts() {
  const [own, setOwn] = useState<Toast[]>([]);
  useEffect(() => {
    outlets.push(setOwn);
    show(shown);
    return () => {
      outlets.splice(outlets.indexOf(setOwn), 1);
      show(shown);
    };
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {own.map(({ id, text, tone, actions }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <Icon name={tone === "ok" ? "check" : "circle-alert"} />
          <span class="grow">{text}</span>
          {actions.map(({ label, run }) => (
            <Button
              key={label}
              look="quiet"
              small
              onClick={() => {
                run();
                dismiss(id);
              }}
            >
              {label}
            </Button>
          ))}
          <Button look="quiet" small icon="x" aria-label="Close" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
