import { showToast } from "./toast.tsx";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorBanner } from "./error-banner.tsx";
import { useSubmission } from "./submission.tsx";

/** Something that is asked about before it is done. */
export interface Question {
  title: string;
  /** What follows from it. */
  text: string;
  /** What the button says. */
  verb: string;
  run: () => Promise<unknown>;
  /** Announced after. */
  done: string;
}

/** Asks, does, and says so; what is refused is shown where it was asked. */
export function Confirm({
  question,
  onClose,
  onDone,
}: {
  question: Question;
  onClose: () => void;
  onDone: () => void;
}) {
  const { submit, busy, error } = useSubmission(async () => {
    await question.run();
    showToast(question.done);
    onClose();
    onDone();
    return true;
  });
  return (
    <Dialog
      title={question.title}
      onClose={onClose}
      actions={
        <>
          <Button look="danger" busy={busy} onClick={submit}>
            {question.verb}
          </Button>
          <Button onClick={onClose}>Leave it</Button>
        </>
      }
    >
      <p>{question.text}</p>
      {error !== null && <ErrorBanner error={error} />}
    </Dialog>
  );
}
