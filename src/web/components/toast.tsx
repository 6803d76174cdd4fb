import { useEffect, useState } from "preact/hooks";

/** What happened, said in passing: seen for some seconds, and read out by screen readers. */

type Tone = "good" | "bad";
interface Announcement {
  id: number;
  text: string;
  tone: Tone;
  /** A button beside the text, such as Undo. */
  action?: { label: string; run: () => void } | undefined;
}

const SECONDS = 8;
let last = 0;
let show: ((change: (shown: Announcement[]) => Announcement[]) => void) | undefined;

/** Says something on whatever page is open: `announce("12 records moved", "good", { label: "Undo", run })`. */
export function showToast(text: string, tone: Tone = "good", action?: Announcement["action"]): void {
  const id = ++last;
  show?.((shown) => [...shown.slice(-2), { id, text, tone, action }]);
  // What went wrong stays until it is closed.
  if (tone === "good") setTimeout(() => dismiss(id), SECONDS * 1000);
}

const dismiss = (id: number): void => show?.((shown) => shown.filter((one) => one.id !== id));

/** Where announcements appear; the frame holds it. The live region is there before anything is said, as it must be. */
export function Toasts() {
  const [shown, set] = useState<Announcement[]>([]);
  useEffect(() => {
    show = set;
  }, []);
  return (
    <div class="announcements" role="status" aria-live="polite">
      {shown.map(({ id, text, tone, action }) => (
        <p key={id} class={`announcement ${tone}`}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                action.run();
                dismiss(id);
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="quiet" aria-label="Close" onClick={() => dismiss(id)}>
            ×
          </button>
        </p>
      ))}
    </div>
  );
}
