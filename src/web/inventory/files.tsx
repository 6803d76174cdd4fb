import { useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, IconButton, LinkButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded } from "../components/loaded.tsx";
import { formatSize, Time } from "../format.tsx";
import { type SubResourceProps, useSubResource } from "./sub-resource.ts";

interface Attachment {
  id: string;
  name: string;
  size: number;
  created: string;
  created_by: string;
}

const PATH = "/api/v2/attachments/";

export function Files({ of, row, onChanged }: SubResourceProps) {
  const [app, model] = of.model.split(".");
  const query = { app, model, object_id: row.id };
  const { loaded: files, change } = useSubResource<Attachment[]>(PATH, onChanged, query);
  const [isBusy, setBusy] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const add = async (chosen: FileList | null | undefined): Promise<void> => {
    setBusy(true);
    for (const file of chosen ?? []) {
      const body = new FormData();
      body.append("file", file);
      const put = (all: Attachment[], added: Attachment): Attachment[] => [...all, added];
      await change("POST", "", `Added ${file.name}.`, body, put);
    }
    setBusy(false);
  };
  return (
    <Card title="Files" count={files.value?.length} bare>
      <Loaded of={files}>
        {(all) => (
          <ul class="list">
            {all.map(({ id, name, size, created, created_by }) => (
              <li key={id}>
                <Icon name="file-text" />
                <span class="grow anywhere">
                  {name}
                  <small>
                    {formatSize(size)}, {created_by}, <Time at={created} />
                  </small>
                </span>
                <LinkButton
                  look="quiet"
                  small
                  icon="download"
                  aria-label={`Download ${name}`}
                  href={href(`${PATH}${id}/`)}
                  download={name}
                />
                {row.mayChange && (
                  <IconButton
                    icon="trash-2"
                    label={`Delete ${name}`}
                    onClick={() => void change("DELETE", `${id}/`, `Deleted ${name}.`)}
                  />
                )}
              </li>
            ))}
            {!row.mayChange && all.length === 0 && <li class="muted">None</li>}
          </ul>
        )}
      </Loaded>
      {row.mayChange && (
        <div
          class="drop-files"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            void add(event.dataTransfer?.files);
          }}
        >
          Drop files here or{" "}
          <Button small icon="upload" busy={isBusy} onClick={() => chooser.current?.click()}>
            Choose files
          </Button>
          <input
            ref={chooser}
            type="file"
            multiple
            class="unseen"
            tabIndex={-1}
            aria-label="Files to add"
            onChange={({ currentTarget }) => void add(currentTarget.files)}
          />
        </div>
      )}
    </Card>
  );
}
