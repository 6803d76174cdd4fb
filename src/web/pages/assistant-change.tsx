import { useState } from "preact/hooks";
import type { PlannedChange } from "../../assistants/planned-changes.ts";
import { href } from "../address.ts";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { formatTime, pluralize } from "../format.tsx";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import { definePage, useParams } from "../page.tsx";
import { call } from "../request.ts";

const AssistantChange = () => (
  <div class="narrow">
    <PageHead title="Confirm a change">An assistant asks to make this change in your name.</PageHead>
    <SignInFirst to="confirm the change">
      <Planned />
    </SignInFirst>
  </div>
);

function Planned() {
  const { id } = useParams();
  const found = useLoaded(id, (signal) => call("GET /api/assistant/changes/:id", { params: { id }, signal }));
  return <Loaded of={found}>{(plan) => <Decision first={plan} />}</Loaded>;
}

/** The sentences of a plan, and the buttons that confirm or reject it. */
function Decision({ first }: { first: PlannedChange }) {
  const [plan, setPlan] = useState(first);
  const [isRejected, setRejected] = useState(false);
  const [error, setError] = useState<unknown>();
  const { id, done, records, sentences, exposes, expires } = plan;
  const params = { id };
  const run = (work: () => Promise<void>) => () => void work().catch(setError);
  const confirm = run(async () => setPlan(await call("POST /api/assistant/changes/:id/confirm", { params })));
  const reject = run(async () => {
    await call("DELETE /api/assistant/changes/:id", { params });
    setRejected(true);
  });
  const more = records - sentences.length;
  const isOpen = !done && !isRejected;
  return (
    <div class="stack">
      {error !== undefined && <ErrorBanner error={error} />}
      {id !== first.id && isOpen && (
        <Banner tone="warn">The records have changed since you were asked. Check the change again.</Banner>
      )}
      {exposes > 0 && isOpen && (
        <Banner tone="warn">More people could view {pluralize(exposes, "record")}.</Banner>
      )}
      <Card
        title={done ? "Changed" : isRejected ? "Rejected" : "Planned"}
        foot={expires !== null && isOpen && <span class="muted">Until {formatTime(expires)}.</span>}
      >
        <ul class="bullets">
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          {more > 0 && <li>And {pluralize(more, "more record")}.</li>}
        </ul>
      </Card>
      {isOpen && (
        <div class="actions">
          <Button look="primary" onClick={confirm}>
            Confirm
          </Button>
          <Button onClick={reject}>Reject</Button>
        </div>
      )}
      {done && <LinkButton href={href("/inventory/changes")}>Undo in recent changes</LinkButton>}
    </div>
  );
}

export const assistantChangePage = definePage({
  name: "assistant-change",
  paths: ["/assistant/:id"],
  title: "Confirm a change",
  View: AssistantChange,
});
