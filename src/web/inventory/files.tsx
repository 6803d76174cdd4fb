import { useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, IconButton, LinkButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Icon } from "../components/icon.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded } from "../components/loaded.tsx";
import { formatSize, Time } from "../format.tsx";
import { call, callForResponse } from "../request.ts";
import { readRows } from "./read-list.ts";
import { Person } from "./record.tsx";
import { type SubResourceProps, useSubResource } from "./sub-resource.ts";

interface Attachment {
  id: string;
  name: string;
  media_type: string;
  size: number;
  created: string;
  created_by: string;
}

const PATH = "/api/v2/attachments/";

/** Images that browsers show, and their largest size for a picture. Others get an icon. */
const PICTURES = /^image\/(png|jpeg|gif|webp|avif)$/;
const MAX_PICTURE = 5_000_000;

/** A small picture of a file that opens a large one, or an icon. */
function Preview({ file: { id, name, media_type, size } }: { file: Attachment }) {
  const [isOpen, setOpen] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (isBroken || !PICTURES.test(media_type) || size > MAX_PICTURE)
    return <Icon name={media_type.startsWith("image/") ? "image" : "file-text"} />;
  const src = href(`${PATH}${id}/`);
  return (
    <>
      <button type="button" class="photo" aria-label={`Show ${name}`} onClick={() => setOpen(true)}>
        <img src={src} alt="" width={40} height={40} loading="lazy" onError={() => setBroken(true)} />
      </button>
      {isOpen && (
        <Dialog wide title={name} onClose={() => setOpen(false)}>
          <img class="photo-large" src={src} alt={name} />
        </Dialog>
      )}
    </>
  );
}

export function Files({ of, row, onChanged }: SubResourceProps) {
  const [app, model] = of.model.split(".");
  const query = { app, model, object_id: row.id };
  const { loaded: files, change } = useSubResource(
    `files of ${row.id}`,
    async (signal) => readRows<Attachment>(await call("GET /api/v2/attachments/", { query, signal })),
    onChanged,
  );
  const [isBusy, setBusy] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const add = async (chosen: FileList | null | undefined): Promise<void> => {
    setBusy(true);
    for (const file of chosen ?? []) {
      const body = new FormData();
      body.append("file", file);
      await change(
        () => callForResponse("POST /api/v2/attachments/", { query, body }),
        `Added ${file.name}.`,
        (all, added) => [...all, ...readRows<Attachment>([added])],
      );
    }
    setBusy(false);
  };
  return (
    <Card title="Files" count={files.value?.length} bare>
      <Loaded of={files}>
        {(all) => (
          <ul class="list">
            {all.map((file) => (
              <li key={file.id}>
                <Preview file={file} />
                <span class="grow anywhere">
                  {file.name}
                  <small>
                    {formatSize(file.size)}, <Person username={file.created_by} />, <Time at={file.created} />
                  </small>
                </span>
                <LinkButton
                  look="quiet"
                  small
                  icon="download"
                  aria-label={`Download ${file.name}`}
                  href={href(`${PATH}${file.id}/`)}
                  download={file.name}
                />
                {row.mayChange && (
                  <IconButton
                    icon="trash-2"
                    label={`Delete ${file.name}`}
                    onClick={() =>
                      void change(
                        () => callForResponse("DELETE /api/v2/attachments/:id/", { params: { id: file.id } }),
                        `Deleted ${file.name}.`,
                      )
                    }
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
