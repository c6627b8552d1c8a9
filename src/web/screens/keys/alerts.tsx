import { useSignal } from '@preact/signals';
import { budgetIdPattern } from '../../../shared/constants/budget-ids.ts';
import type { WebhookFormat } from '../../../shared/constants/webhook-formats.ts';
import type { Alert, AlertFiring, AlertPreview } from '../../../shared/contract/alerts.ts';
import {
  deleteAlert,
  listAlerts,
  listFirings,
  listKeys,
  previewAlert,
  putAlert,
  testAlert,
} from '../../../shared/endpoints.ts';
import { alertFields, alertTitles, alertValue } from '../../../view/alerts.ts';
import { textsOf } from '../../../view/field.ts';
import { isInUse } from '../../../view/key-names.ts';
import { call, problemOf } from '../../data/api.ts';
import { useKeyNames } from '../../data/key-names.ts';
import { now } from '../../data/now.ts';
import { change, useList, useQuery } from '../../data/query.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { FieldFault, Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { actions } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { type AlertField, alertFormFields, conditionIn } from './alert-fields.ts';

const workspace = 'me';
const firingsShown = 8;

/** The alerts of the workspace, and when they last fired. */
export function Alerts() {
  const alerts = useQuery(listAlerts, { params: { workspace } });
  const firings = useQuery(listFirings, { params: { workspace }, query: { limit: firingsShown } });
  const rows = alerts.data?.data ?? [];
  const keyNames = useKeyNames();
  const fired = firings.data?.data ?? [];
  return (
    <Panel
      title="Alerts"
      queries={[alerts]}
      action={{ label: 'Add an alert', dialog: (close) => <EditAlert onClose={close} /> }}
    >
      {rows.length === 0 ? (
        <p class="quiet">
          No alerts. One reports spending, failures, latency, rejections, or that no calls come.
        </p>
      ) : (
        <DataTable
          name="alerts"
          columns={[
            { name: 'Alert', value: ({ id }) => id },
            { name: 'State', value: ({ state }) => state },
            { name: 'Fires from', value: ({ threshold }) => (threshold === null ? null : Number(threshold)) },
            { name: 'Of', value: (alert) => textsOf(alertFields, alert, { now: now.value, keyNames }).of },
            { name: 'Web hook', value: ({ webhook }) => webhook?.origin },
            actions,
          ]}
          rows={rows}
        >
          {(alert) => <AlertRow key={alert.id} alert={alert} />}
        </DataTable>
      )}
      {fired.length > 0 && <Firings firings={fired} />}
    </Panel>
  );
}

function AlertRow({ alert }: { alert: Alert }) {
  const { id, kind, state, threshold, value, message, webhook } = alert;
  const texts = textsOf(alertFields, alert, { now: now.value, keyNames: useKeyNames() });
  return (
    <tr>
      <th scope="row" class="is-title">
        {id}
        <span class="quiet sub">{alertTitles[kind]}</span>
      </th>
      <td title={message ?? undefined}>
        {state === 'firing' ? <b class="bad">firing</b> : 'ok'}
        {value !== null && <span class="quiet"> {texts.value}</span>}
        {state === 'firing' && (
          <span class="quiet">
            {' '}
            since <Time at={alert.since} />
          </span>
        )}
      </td>
      <td>
        {threshold === null ? '' : `${texts.threshold} `}
        <span class="quiet">in {texts.window_minutes}</span>
      </td>
      <td>{texts.of}</td>
      <td class={webhook ? '' : 'quiet is-minor'}>{webhook ? <Hook webhook={webhook} /> : 'none'}</td>
      <td>
        <span class="row-actions">
          {webhook && (
            <button type="button" aria-label={`Test the alert ${id}`} onClick={() => void sendTest(id)}>
              Test
            </button>
          )}
          <DialogButton
            label="Change"
            title={`Change the alert ${id}`}
            dialog={(close) => <EditAlert alert={alert} onClose={close} />}
          />
          <ConfirmButton
            label="Delete"
            title={`Delete the alert ${id}`}
            question={`Delete the alert ${id}?`}
            onConfirm={async () => {
              await change(deleteAlert, { params: { workspace, id } });
              toast(`The alert ${id} was deleted.`);
            }}
          >
            <p>If it fires, it resolves. Messages that were not delivered are deleted.</p>
          </ConfirmButton>
        </span>
      </td>
    </tr>
  );
}

function Hook({ webhook: { origin, last_delivery: last } }: { webhook: NonNullable<Alert['webhook']> }) {
  return (
    <>
      {origin}
      {last && (
        <span class={last.state === 'failed' ? 'bad sub' : 'quiet sub'} title={last.failure ?? undefined}>
          {last.state} {last.http_status ?? ''}
        </span>
      )}
    </>
  );
}

async function sendTest(id: string): Promise<void> {
  try {
    const { state, http_status: status, failure } = await change(testAlert, { params: { workspace, id } });
    toast(
      state === 'delivered'
        ? `The web hook answered ${status}.`
        : `Not delivered: ${failure ?? `status ${status}`}`,
    );
  } catch (error) {
    toast(problemOf(error).sentence);
  }
}

/** When alerts fired last. */
function Firings({ firings }: { firings: readonly AlertFiring[] }) {
  return (
    <>
      <h3>Last firings</h3>
      <ul class="firings">
        {firings.map(({ id, alert, message, fired_at: at, resolved_at: resolved }) => (
          <li key={id}>
            <span class="quiet">
              <Time at={at} /> – {resolved === null ? <b class="bad">now</b> : <Time at={resolved} />}
            </span>{' '}
            <b>{alert}</b> {message}
          </li>
        ))}
      </ul>
    </>
  );
}

function EditAlert({ alert, onClose }: { alert?: Alert; onClose: () => void }) {
  const keys = useList(listKeys, { params: { workspace }, query: {} });
  const active = keys.data?.data.filter((key) => isInUse(key) || key.id === alert?.key) ?? [];
  const secret = useSignal<string | undefined>(undefined);
  const preview = useSignal<AlertPreview | undefined>(undefined);
  const save = async (values: Record<AlertField, string>) => {
    const id = values.id.trim();
    if (!new RegExp(budgetIdPattern).test(id))
      throw new FieldFault(
        'id',
        'A name begins with a letter or digit, and has lower-case letters, digits, _ and - only.',
      );
    const hook = values.webhook.trim();
    const format = (values.format || null) as WebhookFormat | null;
    const saved = await change(putAlert, {
      params: { workspace, id },
      body: {
        ...conditionIn(values),
        ...(hook && { webhook_url: hook === '-' ? null : hook }),
        ...(hook !== '-' && (hook || alert?.webhook) && { webhook_format: format }),
      },
    });
    toast(alert ? `The alert ${id} was changed.` : `The alert ${id} was added.`);
    if (saved.webhook_secret === null) onClose();
    else secret.value = saved.webhook_secret;
  };
  if (secret.value !== undefined)
    return (
      <SecretDialog
        key="secret"
        title="The secret that signs messages"
        secret={secret.value}
        onClose={onClose}
      />
    );
  return (
    <Dialog key="form" title={alert ? `Alert ${alert.id}` : 'Add an alert'} onClose={onClose}>
      <Form<AlertField>
        fields={(values) => alertFormFields(alert, active, values)}
        action={alert ? 'Save' : 'Add'}
        onCancel={onClose}
        onSubmit={save}
        other={{
          title: 'Try on 7 days',
          run: async (values) => {
            preview.value = await call(previewAlert, { params: { workspace }, body: conditionIn(values) });
          },
        }}
      >
        {preview.value && <Preview preview={preview.value} />}
      </Form>
    </Dialog>
  );
}

function Preview({ preview: { days, unit } }: { preview: AlertPreview }) {
  const fired = days.filter(({ firings }) => firings > 0);
  return (
    <p class="notice" role="status">
      {fired.length === 0
        ? 'It would not have fired in the last 7 days.'
        : `It would have fired on ${fired
            .map(({ day, firings, peak }) => `${day} (${firings}×, up to ${alertValue(peak, unit)})`)
            .join(', ')}.`}
    </p>
  );
}
