import { useSignal } from '@preact/signals';
import type { Key } from '../../../shared/contract/keys.ts';
import type { UsageGroup } from '../../../shared/contract/usage.ts';
import { listKeys, listUsage, pauseKey, resumeKey, revokeKey, setLimits } from '../../../shared/endpoints.ts';
import { startOfPeriod } from '../../../shared/money/spend-periods.ts';
import { textsOf } from '../../../view/field.ts';
import { isInUse } from '../../../view/key-names.ts';
import { keyFields } from '../../../view/keys.ts';
import { limitTexts } from '../../../view/limits.ts';
import { briefDollars, dollars } from '../../../view/money.ts';
import { callsHref, figureLinks } from '../../data/calls-link.ts';
import { now } from '../../data/now.ts';
import { change, useList } from '../../data/query.ts';
import { CallsFigure } from '../../parts/calls-figure.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { DataTable, timeOf } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions, number } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { IssueKey } from './issue-key.tsx';
import { KeyCap } from './key-cap.tsx';
import { type LimitField, limitsFields, limitsIn } from './limits-fields.ts';
import { RotateKey } from './rotate-key.tsx';

const workspace = 'me';

/** The keys of the workspace with the use of their limits. */
export function KeyList() {
  const keys = useList(listKeys, { params: { workspace }, query: {} });
  const month = new Date(startOfPeriod('month', now.value)).toISOString();
  const usage = useList(listUsage, { query: { since: month, group_by: 'key' } });
  const used = new Map(usage.data?.data.map((each) => [each.group, each]));
  const showsEnded = useSignal(false);
  const all = keys.data?.data ?? [];
  const active = all.filter(isInUse);
  const ended = all.length - active.length;
  const shown = showsEnded.value ? all : active;
  return (
    <Panel
      title="Keys"
      queries={[keys]}
      tools={
        ended > 0 && (
          <button
            type="button"
            aria-pressed={showsEnded.value}
            onClick={() => {
              showsEnded.value = !showsEnded.value;
            }}
          >
            Revoked and expired ({ended})
          </button>
        )
      }
      action={{ label: 'Issue a key', isMain: true, dialog: (close) => <IssueKey onClose={close} /> }}
    >
      {shown.length === 0 ? (
        <p class="empty">No active keys. Clients need one to make calls.</p>
      ) : (
        <DataTable
          name="keys"
          columns={[
            { name: 'Key', value: ({ name, id }) => name || id },
            { name: 'Spend cap', value: ({ limits }) => limits.spend_cap && Number(limits.spend_cap.usd) },
            { ...number('This month'), value: ({ id }) => Number(used.get(id)?.cost.total_usd ?? 0) },
            { name: 'Limits', value: (key) => limitsText(key) },
            { name: 'Last used', value: ({ last_used_at: at }) => timeOf(at) },
            actions,
          ]}
          rows={shown}
        >
          {(key) => (
            <KeyRow
              key={key.id}
              keyView={key}
              since={month}
              month={usage.data && (used.get(key.id) ?? 'none')}
            />
          )}
        </DataTable>
      )}
    </Panel>
  );
}

interface RowProps {
  keyView: Key;
  since: string;
  /** What it was used for since then; undefined while that is loading. */
  month: UsageGroup | 'none' | undefined;
}

function KeyRow({ keyView, since, month }: RowProps) {
  const { id, name, status, last_used_at: lastUsed } = keyView;
  const texts = textsOf(keyFields, keyView, { now: now.value });
  const limits = limitsText(keyView);
  return (
    <tr class={isInUse(keyView) ? undefined : 'is-ended'}>
      <th scope="row" class="is-title" title={`Scopes: ${texts.scopes}`}>
        <a href={callsHref({ key: id })}>{name || id}</a>
        {status !== 'active' && <span class="bad"> {status}</span>}
        <code class="quiet sub">{texts.secret}</code>
      </th>
      <td class="is-bar">{isInUse(keyView) && <KeyCap keyView={keyView} />}</td>
      <td class="number" data-label="This month">
        {month === undefined && '…'}
        {month === 'none' && briefDollars('0')}
        {typeof month === 'object' && <MonthCost id={id} since={since} month={month} />}
      </td>
      <td class={limits === '' ? 'quiet is-minor' : ''}>{limits || 'none'}</td>
      <td class="quiet" data-label="Last used">
        <span title={lastUsed ?? undefined}>{texts.last_used_at}</span>
      </td>
      <td>
        {isInUse(keyView) && (
          <span class="row-actions">
            <DialogButton
              label="Limits"
              title={`Change the limits of ${name}`}
              dialog={(close) => <ChangeLimits keyView={keyView} onClose={close} />}
            />
            <DialogButton
              label="Rotate"
              title={`Rotate ${name}`}
              dialog={(close) => <RotateKey keyView={keyView} onClose={close} />}
            />
            <PauseButton keyView={keyView} />
            <DialogButton
              label="Revoke"
              title={`Revoke ${name}`}
              dialog={(close) => <RevokeKey keyView={keyView} onClose={close} />}
            />
          </span>
        )}
      </td>
    </tr>
  );
}

function MonthCost({ id, since, month }: { id: string; since: string; month: UsageGroup }) {
  const { requests, rejected, cost } = month;
  const { charged } = figureLinks({ key: id, since }, { calls: requests + rejected, rejected });
  return (
    <CallsFigure
      text={briefDollars(cost.total_usd)}
      what="this month"
      of={Number(cost.total_usd) > 0 ? charged : undefined}
      title={dollars(cost.total_usd)}
    />
  );
}

function PauseButton({ keyView: { id, name, status } }: { keyView: Key }) {
  const isPaused = status === 'paused';
  const action = isPaused ? 'Resume' : 'Pause';
  const toggle = async () => {
    const params = { workspace, key: id };
    try {
      await (isPaused ? change(resumeKey, { params }) : change(pauseKey, { params }));
      toast(
        isPaused ? `${name} was resumed.` : `${name} was paused: its calls are rejected until you resume it.`,
      );
    } catch (error) {
      toast((error as Error).message);
    }
  };
  return (
    <button type="button" aria-label={`${action} ${name}`} onClick={() => void toggle()}>
      {action}
    </button>
  );
}

/** What else is limited: the key itself may have fixed models and actions. */
function limitsText({ limits, models, actions }: Key): string {
  const texts = limitTexts(limits, { cap: false });
  return [...texts, models && `only ${models.join(' ')}`, actions?.join(', ')].filter(Boolean).join(' · ');
}

interface KeyDialogProps {
  keyView: Key;
  onClose: () => void;
}

function ChangeLimits({ keyView: { id, name, limits }, onClose }: KeyDialogProps) {
  return (
    <Dialog title={`Limits of ${name}`} onClose={onClose}>
      <Form<LimitField>
        fields={(values) => limitsFields(limits, values)}
        action="Save"
        onCancel={onClose}
        onSubmit={async (values) => {
          await change(setLimits, { params: { workspace, key: id }, body: limitsIn(values) });
          toast(`The limits of ${name} were changed. They apply from the next call on.`);
          onClose();
        }}
      />
    </Dialog>
  );
}

function RevokeKey({ keyView: { id, name, last_used_at: lastUsed }, onClose }: KeyDialogProps) {
  const revoke = async () => {
    const { also_revoked: others } = await change(revokeKey, { params: { workspace, key: id } });
    const also = others.length === 0 ? '' : `, and ${others.length} that it had issued`;
    toast(`${name} was revoked${also}.`);
    onClose();
  };
  return (
    <Confirm title={`Revoke ${name}?`} action="Revoke" onConfirm={revoke} onClose={onClose}>
      <p>
        Its calls are rejected and its running streams end immediately. The keys that it issued are revoked,
        too. This cannot be undone.
      </p>
      <p class="quiet">Last used: {lastUsed === null ? 'never' : <Time at={lastUsed} />}.</p>
    </Confirm>
  );
}
