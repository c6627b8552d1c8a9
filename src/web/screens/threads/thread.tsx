import type { Result } from '../../../shared/contract/endpoint.ts';
import type { listThreadMessages as contract } from '../../../shared/contract/threads.ts';
import { deleteThread, getThread, listThreadMessages, updateThread } from '../../../shared/endpoints.ts';
import { change, useList, useQuery } from '../../data/query.ts';
import { hrefOf, navigate } from '../../data/route.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Form } from '../../parts/form.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { LongText } from '../../parts/long-text.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';

type Message = Result<typeof contract>['data'][number];

/** A conversation with its messages. */
export function ThreadPage({ id }: { id: string }) {
  const found = useQuery(getThread, { params: { id } });
  const messages = useList(listThreadMessages, { params: { id }, query: {} });
  const title = found.data?.thread.title ?? '';
  return (
    <>
      <header class="heading">
        <a href={hrefOf('threads')}>‹ Threads</a>
        <h1 dir="auto">{title || id}</h1>
        <DialogButton
          label="Rename"
          dialog={(close) => (
            <Dialog title="Rename the thread" onClose={close}>
              <Form
                fields={[{ name: 'title', label: 'Title', value: title, maxLength: 255 }]}
                action="Save"
                onCancel={close}
                onSubmit={async (values) => {
                  await change(updateThread, {
                    params: { id },
                    body: { title: values.title.trim() || null },
                  });
                  close();
                }}
              />
            </Dialog>
          )}
        />
        <ConfirmButton
          label="Delete"
          question="Delete the thread?"
          onConfirm={async () => {
            await change(deleteThread, { params: { id } });
            navigate(hrefOf('threads'));
            toast('The thread was deleted.');
          }}
        >
          <p>Its messages are deleted for good. Usage and cost of its calls stay.</p>
        </ConfirmButton>
      </header>
      <Panel title="Messages" queries={[found, messages]}>
        {messages.data?.data.length === 0 && <p class="quiet">No run has been completed in this thread.</p>}
        <ol class="thread">
          {messages.data?.data.map((message) => (
            <ThreadMessage key={message.id} message={message} />
          ))}
        </ol>
      </Panel>
    </>
  );
}

function ThreadMessage({ message: { type, role, content, created_at: at } }: { message: Message }) {
  return (
    <li>
      <p class="thread-role">
        <b>{type === 'message' ? role : type.replaceAll('_', ' ')}</b>{' '}
        <span class="quiet">
          <Time at={at} />
        </span>
      </p>
      {content.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message stay as they are.
        <Part key={place} part={part} />
      ))}
    </li>
  );
}

function Part({ part }: { part: Readonly<Record<string, unknown>> }) {
  return typeof part.text === 'string' ? <LongText text={part.text} /> : <JsonTree value={part} />;
}
