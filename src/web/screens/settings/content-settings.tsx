import { useSignal } from '@preact/signals';
import { type CaptureLevel, captureLevels } from '../../../shared/constants/capture-levels.ts';
import { textStores } from '../../../shared/constants/text-stores.ts';
import type { getCapture as captureContract } from '../../../shared/contract/content.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import {
  clearTraceContent,
  getCapture,
  getWorkspace,
  listKeys,
  updateWorkspace,
} from '../../../shared/endpoints.ts';
import { sizeText } from '../../../shared/text/size-text.ts';
import { count, percent } from '../../../view/numbers.ts';
import { change, useList, useQuery } from '../../data/query.ts';
import { Choice } from '../../parts/choice.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Meter } from '../../parts/meter.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';

const workspace = 'me';

type Capture = Result<typeof captureContract>;
type Wanted = CaptureLevel | 'default';

const levelTexts: Readonly<Record<CaptureLevel, string>> = {
  off: 'What calls ask and are answered is not kept.',
  memory: 'What calls ask and are answered is kept in memory, and gone when the daemon stops.',
  disk: 'What calls ask and are answered is kept encrypted on disk.',
};

const sourceTexts: Readonly<Record<Capture['source'], string>> = {
  host: 'by the configuration of the host',
  workspace: 'by the workspace',
  key: 'by the key',
  unasked: 'as long as the workspace does not ask for more',
};

/** How much of the content of calls is kept, and how long. */
export function ContentSettings() {
  const capture = useQuery(getCapture, {});
  const { data } = capture;
  return (
    <Panel
      title="Content of calls"
      queries={[capture]}
      action={{ label: 'Clear…', dialog: (close) => <ClearContent onClose={close} /> }}
    >
      {data && <Kept capture={data} />}
      {data && <LevelChoice capture={data} />}
    </Panel>
  );
}

function Kept({ capture }: { capture: Capture }) {
  const { level, source, requests, oldest_at: oldest, dropped } = capture;
  const memory = capture.bytes - capture.disk_bytes;
  return (
    <>
      <p>
        {levelTexts[level]} <span class="quiet">Decided {sourceTexts[source]}.</span>
      </p>
      <dl class="terms">
        <dt>Kept</dt>
        <dd>
          {requests === 1 ? '1 call' : `${count(requests)} calls`} of this workspace
          {oldest !== null && (
            <span class="quiet">
              , the oldest of <Time at={oldest} />
            </span>
          )}
        </dd>
        {capture.content !== 'off' && (
          <Size
            title="Memory"
            bytes={memory}
            most={capture.memory_bytes_max}
            note="the newest calls that fit"
          />
        )}
        {capture.content === 'disk' && (
          <Size
            title="Disk"
            bytes={capture.disk_bytes}
            most={capture.disk_bytes_max}
            note={`${capture.disk_days} days at most`}
          />
        )}
        {dropped > 0 && (
          <>
            <dt>Dropped</dt>
            <dd class="warn">{count(dropped)} pieces since the start, as more came than could be stored</dd>
          </>
        )}
      </dl>
    </>
  );
}

function Size({ title, bytes, most, note }: { title: string; bytes: number; most: number; note: string }) {
  return (
    <>
      <dt>{title}</dt>
      <dd>
        {sizeText(bytes)} of {sizeText(most)} ({percent(most > 0 ? bytes / most : 0)}),{' '}
        <span class="quiet">{note}</span>
        <Meter used={most > 0 ? bytes / most : 0} />
      </dd>
    </>
  );
}

/** What the workspace keeps at most; the host’s configuration is the upper limit. */
function LevelChoice({ capture }: { capture: Capture }) {
  const found = useQuery(getWorkspace, { params: { workspace } });
  const failure = useSignal<unknown>(undefined);
  const isConfirming = useSignal(false);
  if (!found.data) return null;
  const chosen: Wanted = found.data.capture ?? 'default';
  const save = async (level: Wanted) => {
    await change(updateWorkspace, {
      params: { workspace },
      body: { capture: level === 'default' ? null : level },
    });
    toast('This applies from the next call on.');
    isConfirming.value = false;
  };
  const choose = async (level: Wanted) => {
    failure.value = undefined;
    if (level === 'disk' && capture.content === 'disk') {
      isConfirming.value = true;
      return;
    }
    await save(level).catch((error) => {
      failure.value = error;
    });
  };
  return (
    <>
      <p class="choice-line">
        <span>This workspace keeps</span>
        <Choice<Wanted>
          label="What the workspace keeps"
          options={[
            { value: 'default', title: 'default' },
            ...captureLevels.map((value) => ({ value, title: value })),
          ]}
          value={chosen}
          onChange={(level) => void choose(level)}
        />
      </p>
      <p class="quiet">
        Never more than <code>capture.content</code> of the configuration, which is <b>{capture.content}</b>.
      </p>
      {failure.value !== undefined && <ProblemBox error={failure.value} />}
      {isConfirming.value && (
        <Confirm
          title="Keep the content of calls on disk?"
          action="Keep on disk"
          onConfirm={() => save('disk')}
          onClose={() => {
            isConfirming.value = false;
          }}
        >
          <p>
            Requests, attempts and answers of this workspace are stored encrypted in content.db for{' '}
            {capture.disk_days} days, up to {sizeText(capture.disk_bytes_max)} of all workspaces. Members of
            the workspace and keys with the scope content:read can read them, and technically the owner of the
            data folder.
          </p>
        </Confirm>
      )}
    </>
  );
}

function ClearContent({ onClose }: { onClose: () => void }) {
  const keys = useList(listKeys, { params: { workspace }, query: {} });
  const named = keys.data?.data ?? [];
  return (
    <Dialog title="Clear the texts of calls" onClose={onClose}>
      <Form<'key' | 'user' | 'until'>
        fields={[
          {
            name: 'key',
            label: 'Of the key',
            kind: 'choice',
            options: [
              { value: '', title: 'all keys' },
              ...named.map(({ id, name }) => ({ value: id, title: name || id })),
            ],
          },
          { name: 'user', label: 'Of the end user', placeholder: 'all users', maxLength: 256 },
          { name: 'until', label: 'Before', kind: 'time' },
        ]}
        action="Clear"
        isDangerous
        onCancel={onClose}
        onSubmit={async ({ key, user, until }) => {
          const { stores, running } = await change(clearTraceContent, {
            query: {
              ...(key && { key }),
              ...(user.trim() && { user: user.trim() }),
              ...(until && { until: new Date(until).toISOString() }),
            },
          });
          const names = { content: 'content of calls', ...textStores };
          const gone = stores.filter(({ deleted }) => deleted > 0);
          const said = gone.map(({ store, deleted }) => `${names[store]} (${count(deleted)})`).join(', ');
          const rest =
            running > 0 ? ` Calls that still run: ${count(running)}; clear again when they end.` : '';
          toast(`Deleted: ${said || 'nothing'}.${rest}`);
          onClose();
        }}
      >
        <p>
          What these calls asked and were answered is deleted, for good: also stored responses, runs of
          threads and cached answers. All else about them stays, with their usage and cost. Texts that a later
          call repeats disappear there, too.
        </p>
      </Form>
    </Dialog>
  );
}
