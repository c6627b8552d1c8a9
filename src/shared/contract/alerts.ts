import { type Static, Type } from 'typebox';
import { alertKinds } from '../constants/alert-kinds.ts';
import { webhookFormats } from '../constants/webhook-formats.ts';
import { budgetIdPattern } from './budgets.ts';
import { endpoint } from './endpoint.ts';
import {
  Count,
  deleted,
  listOf,
  maybe,
  nullable,
  OneLine,
  pageQuery,
  Timestamp,
  WorkspaceReference,
} from './vocabulary.ts';

/** Each is evaluated several times a minute. */
export const alertsMax = 100;
export const minCallsDefault = 20;
export const previewDays = 7;

const AlertId = Type.String({
  pattern: budgetIdPattern,
  description: 'Its name in the workspace: lower-case letters, digits, `_` and `-`, such as `slow-answers`.',
});

const Kind = Type.Enum([...alertKinds], {
  description:
    'What it watches in its window: dollars charged, the percentage of failed calls, the 95th percentile of the duration of answers or of the time to the first token, rejected calls, benched providers, or that there are no calls.',
});

const WindowMinutes = Type.Integer({
  minimum: 15,
  maximum: 7 * 24 * 60,
  description:
    'A multiple of 15, at most 10,080; of 60, at most 1,440, for a percentile. As calls are counted by the quarter of an hour, and latency by the hour, up to as much is added.',
});

const Amount = Type.String({ pattern: '^[0-9]{1,7}(\\.[0-9]{1,9})?$' });

const threshold = {
  description:
    'It fires when the value reaches this: dollars, percent, milliseconds or calls, as a decimal. Null for `benched` and `silence`.',
};

const Name = (description: string) => OneLine({ maxLength: 256, description });

const filters = {
  key: 'Only calls with the key of this id; not together with `model` or `provider`.',
  model: 'Only calls of this model.',
  provider: 'Only calls that this provider answered.',
};

const Value = nullable(
  Type.String({ description: 'In `unit`, a decimal; of `benched`, how many; of `silence`, the calls.' }),
);

const Delivery = Type.Object(
  {
    id: Type.String({ description: 'The `webhook-id` that the receiver gets with each attempt.' }),
    object: Type.Literal('alert.delivery'),
    type: Type.String({ description: '`alert.fired`, `alert.resolved` or `alert.test`.' }),
    state: Type.Enum(['pending', 'delivered', 'failed']),
    attempts: Count,
    http_status: nullable(Type.Integer({ description: 'Of the last answer.' })),
    failure: nullable(Type.String({ description: 'Why the last attempt failed.' })),
    created_at: Timestamp,
  },
  { $id: 'AlertDelivery', description: 'A message to the web hook of an alert.' },
);

const settings = { kind: Kind, window_minutes: WindowMinutes };

const members = {
  id: AlertId,
  object: Type.Literal('alert'),
  ...settings,
  threshold: nullable(Type.String(threshold)),
  unit: nullable(Type.Enum(['usd', 'percent', 'ms', 'calls'])),
  min_calls: Type.Integer({ description: 'With fewer calls in the window it does not fire.' }),
  key: nullable(Type.String()),
  model: nullable(Type.String()),
  provider: nullable(Type.String()),
  state: Type.Enum(['ok', 'firing']),
  since: Timestamp,
  value: Value,
  message: nullable(Type.String({ description: 'Why it fires, in a sentence.' })),
  webhook: nullable(
    Type.Object({
      origin: Type.String({ description: 'The address without its path, which may contain a secret.' }),
      format: nullable(Type.Enum([...webhookFormats], { description: 'Null: as its address tells.' })),
      last_delivery: nullable(Delivery),
    }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Alert = Type.Object(members, {
  $id: 'Alert',
  description: 'A condition on the calls of a workspace, and whether it holds.',
});

const SavedAlert = Type.Object(
  {
    ...members,
    webhook_secret: nullable(
      Type.String({ description: 'New: messages are signed with it. `whsec_…`, shown this once.' }),
    ),
  },
  { $id: 'SavedAlert', description: 'An alert, with the secret of its web hook if that is new.' },
);

const condition = {
  ...settings,
  threshold: maybe({ ...Amount, ...threshold }),
  min_calls: maybe(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: `Of \`error_share\` and percentiles: with fewer calls in the window it does not fire. Default ${minCallsDefault}.`,
    }),
  ),
  key: maybe(Type.String({ minLength: 1, maxLength: 64, description: filters.key })),
  model: maybe(Name(filters.model)),
  provider: maybe(Name(filters.provider)),
};

export const AlertCondition = Type.Object(condition, {
  $id: 'AlertCondition',
  additionalProperties: false,
  description: 'When an alert fires.',
});

export const AlertSettings = Type.Object(
  {
    ...condition,
    webhook_url: maybe(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'Gets a signed POST when it fires and when it resolves. An empty text or null removes it; left out, it stays.',
      }),
    ),
    webhook_format: maybe(
      Type.Enum([...webhookFormats], {
        description:
          'The form in which the receiver expects messages: `slack` also for Mattermost, Rocket.Chat and Zulip, `dingtalk` for WeCom. Null: the address tells, otherwise `standard`. Left out, it stays with the address.',
      }),
    ),
    new_secret: maybe(Type.Boolean({ description: 'Replaces the secret that signs messages.' })),
  },
  {
    $id: 'AlertSettings',
    additionalProperties: false,
    description: 'Replaces the alert; a web hook that is omitted is kept.',
  },
);

export const AlertFiring = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('alert.firing'),
    alert: Type.String(),
    ...settings,
    threshold: nullable(Type.String()),
    unit: nullable(Type.String()),
    key: nullable(Type.String()),
    model: nullable(Type.String()),
    provider: nullable(Type.String()),
    value: Value,
    message: Type.String(),
    fired_at: Timestamp,
    resolved_at: nullable(Timestamp),
    resolved_value: Value,
  },
  { $id: 'AlertFiring', description: 'A time in which an alert fired.' },
);

const AlertDay = Type.Object({
  day: Type.String({ format: 'date', description: 'A UTC day.' }),
  firings: Count,
  first_at: nullable(Timestamp),
  peak: Value,
});

export const AlertPreview = Type.Object(
  {
    object: Type.Literal('alert.preview'),
    unit: nullable(Type.String()),
    days: Type.Array(AlertDay),
  },
  { $id: 'AlertPreview', description: 'When an alert would have fired in the last days, oldest first.' },
);

const at = Type.Object({ workspace: WorkspaceReference });
const one = Type.Object({ workspace: WorkspaceReference, id: AlertId });
const read = { apiKey: 'workspace', login: 'any' } as const;
const change = { login: 'admin', loginOnly: true } as const;

export const listAlerts = endpoint({
  id: 'listAlerts',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/alerts',
  summary: 'List alerts.',
  description: 'All on one page, by name, with their states. For the members of the workspace.',
  tag: 'Alerts',
  access: read,
  params: at,
  result: listOf(Alert),
});

export const getAlert = endpoint({
  id: 'getAlert',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/alerts/{id}',
  summary: 'Get an alert.',
  tag: 'Alerts',
  access: read,
  params: one,
  result: Alert,
});

export const putAlert = endpoint({
  id: 'putAlert',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/alerts/{id}',
  summary: 'Set an alert.',
  description: `Adds or replaces an alert, for owners and admins of the workspace. It fires once when its value reaches the threshold, and resolves when the value falls below 90 % of it; both are stored events. Messages to the web hook are signed as Standard Webhooks 1.0.0 describes, and sent up to seven times. An address of plain HTTP or in a private network is only for the owner of the host. A workspace has at most ${alertsMax} alerts.`,
  tag: 'Alerts',
  access: change,
  params: one,
  body: AlertSettings,
  result: SavedAlert,
});

export const deleteAlert = endpoint({
  id: 'deleteAlert',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/alerts/{id}',
  summary: 'Delete an alert.',
  description: 'Deletes an alert and messages that were not delivered. If it fires, it resolves.',
  tag: 'Alerts',
  access: change,
  params: one,
  result: deleted('alert'),
});

export const listFirings = endpoint({
  id: 'listFirings',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/alerts/fired',
  summary: 'List when alerts fired.',
  description: 'Newest first, the last 1,000 of the workspace.',
  tag: 'Alerts',
  access: read,
  params: at,
  query: Type.Object({
    ...pageQuery('firing'),
    alert: Type.Optional({ ...AlertId, description: 'Only of this alert.' }),
    open: Type.Optional(
      Type.Boolean({ description: 'Only those that are not resolved, or only the others.' }),
    ),
  }),
  result: listOf(AlertFiring),
});

export const testAlert = endpoint({
  id: 'testAlert',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/alerts/{id}/test',
  summary: 'Send a test message to a web hook.',
  description: 'Answers after the first attempt. A message that fails is sent again as others are.',
  tag: 'Alerts',
  access: change,
  params: one,
  result: Delivery,
});

export const previewAlert = endpoint({
  id: 'previewAlert',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/alert-previews',
  summary: 'Show when an alert would have fired.',
  description: `Evaluates a condition on the last ${previewDays} days, by the quarter of an hour or the hour, without adding an alert. Of benched providers only what happened since the start of the daemon is known.`,
  tag: 'Alerts',
  access: read,
  params: at,
  body: AlertCondition,
  result: AlertPreview,
});

export type Alert = Static<typeof Alert>;
export type AlertCondition = Static<typeof AlertCondition>;
export type AlertDelivery = Static<typeof Delivery>;
export type AlertFiring = Static<typeof AlertFiring>;
export type AlertPreview = Static<typeof AlertPreview>;
export type AlertSettings = Static<typeof AlertSettings>;
