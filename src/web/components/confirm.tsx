import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { FormError, useSubmission } from "./form.tsx";
import { showToast } from "./toast.tsx";

/** An act that needs confirmation first. */
interface Confirmation {
  title: string;
  /** The consequences. */
  text: string;
  /** Label of the button; it names the act, such as "Delete 3 records". */
  verb: string;
  /** Look of the button; `danger` for destructive actions. */
  look?: "primary" | "danger";
  run: () => Promise<unknown>;
  /** Shown as a toast afterwards. */
  done?: string;
}

let open: ((confirmation: Confirmation) => void) | undefined;

/** Asks before it acts; an error appears in the dialog. The shell holds the dialog. */
export const confirm = (confirmation: Confirmation): void => open?.(confirmation);

/** The dialog of `confirm`. */
export function ConfirmDialog() {
  const [asked, setAsked] = useState<Confirmation | null>(null);
  useEffect(() => {
    open = setAsked;
  }, []);
  return asked && <Asking key={asked.title} {...asked} onClose={() => setAsked(null)} />;
}

function Asking(props: Confirmation & { onClose: () => void }) {
  const { title, text, verb, look = "danger", run, done, onClose } = props;
  const form = useSubmission(async () => {
    await run();
    if (done !== undefined) showToast(done);
    onClose();
    return true;
  });
  return (
    <Dialog
      title={title}
      onClose={onClose}
      cancel
      actions={
        <Button look={look} busy={form.busy} onClick={form.submit}>
          {verb}
        </Button>
      }
    >
      <p>{text}</p>
      <FormError of={form} shown={[]} />
    </Dialog>
  );
}
