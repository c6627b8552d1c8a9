import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { dataOf, pageSizeMax, RowId } from './site.ts';
import { AnyObject, maybe, OneLine, Timestamp } from './vocabulary.ts';

/** `active` and `disabled` can change into each other; `archived` is final. */
export const autopilotStatuses = ['active', 'disabled', 'archived'] as const;
export const autopilotVisibilities = ['private', 'discoverable', 'public'] as const;

const Status = Type.Enum([...autopilotStatuses], {
  description: '`active` and `disabled` can change into each other; `archived` is final.',
});
const Visibility = Type.Enum([...autopilotVisibilities], { description: 'Who can find it.' });

const members = {
  avatar: Type.String({ description: 'The URL of an image; empty for none.' }),
  configVersion: Type.Integer({
    minimum: 1,
    description: 'Incremented by each change of profile or policy.',
  }),
  createdAt: Timestamp,
  displayName: Type.String(),
  handle: Type.String({ description: 'Unique on this host.' }),
  id: Type.String({ description: '`ap_…`' }),
  ownerUserId: RowId,
  status: Status,
  tagline: Type.String(),
  updatedAt: Timestamp,
  visibility: Visibility,
};

/** An autopilot in a list. */
export const Autopilot = Type.Object(members, { $id: 'Autopilot' });

const names = (maxLength: number, description: string) =>
  maybe(Type.Array(Type.String({ minLength: 1, maxLength }), { maxItems: 256, description }));
const msats = (description: string) =>
  maybe(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }));

/** Voice and purpose of an autopilot. Members that were never set are absent. */
export const AutopilotProfile = Type.Object(
  {
    ownerDisplayName: maybe(Type.String({ maxLength: 120 })),
    personaSummary: maybe(Type.String({ maxLength: 5000 })),
    autopilotVoice: maybe(Type.String({ maxLength: 64 })),
    principles: maybe(Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { maxItems: 64 })),
    preferences: maybe(AnyObject),
    onboardingAnswers: maybe(AnyObject),
    schemaVersion: maybe(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  },
  { $id: 'AutopilotProfile', additionalProperties: false },
);

/** Tools and spending limits of an autopilot. Members that were never set are absent. */
export const AutopilotPolicy = Type.Object(
  {
    modelProvider: maybe(Type.String({ maxLength: 64 })),
    model: maybe(Type.String({ maxLength: 128 })),
    toolAllowlist: names(128, 'The only tools it may use.'),
    toolDenylist: names(128, 'Tools it may not use.'),
    l402RequireApproval: maybe(Type.Boolean({ description: 'Whether payments need approval.' })),
    l402MaxSpendMsatsPerCall: msats('Maximum amount of one payment.'),
    l402MaxSpendMsatsPerDay: msats('Maximum amount per day.'),
    l402AllowedHosts: names(255, 'The only hosts it may pay.'),
    dataPolicy: maybe(AnyObject),
  },
  { $id: 'AutopilotPolicy', additionalProperties: false },
);

/** An autopilot with its profile and policy. */
export const AutopilotDetails = Type.Object(
  { ...members, profile: AutopilotProfile, policy: AutopilotPolicy },
  { $id: 'AutopilotDetails' },
);

const access = { apiKey: 'workspace', login: 'any', token: 'autopilots:*' } as const;
const errors = ['unauthenticated', 'permission', 'out_of_scope', 'invalid_request'] as const;
const params = Type.Object({
  autopilot: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The id or handle of one of your autopilots.',
  }),
});

const changeable = {
  handle: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^(?![Aa][Gg][Ee][Nn][Tt]:)(?![Ss][Ee][Rr][Vv][Ii][Cc][Ee]:)[A-Za-z0-9:_-]+$',
      description:
        'Letters, digits, `:`, `_` and `-`, stored in lower case. Must not start with `agent:` or `service:`.',
    }),
  ),
  avatar: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: '^(https?://[^\\s\\u0000-\\u001f\\u007f]+)?$',
      description: 'The http or https URL of an image; empty for none.',
    }),
  ),
  tagline: Type.Optional(Type.String({ maxLength: 255 })),
  visibility: Type.Optional(Visibility),
  profile: Type.Optional(AutopilotProfile),
  policy: Type.Optional(AutopilotPolicy),
};
const displayName = OneLine({ maxLength: 120, description: 'A display name.' });

export const listAutopilots = endpoint({
  id: 'listAutopilots',
  method: 'GET',
  path: '/api/autopilots',
  summary: 'List your autopilots.',
  description: 'Most recently changed first.',
  tag: 'Autopilots',
  access,
  surface: 'site',
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: `Page size; default 100, at most ${pageSizeMax}.`,
      }),
    ),
    status: Type.Optional(
      Type.Enum([...autopilotStatuses], { description: 'Only autopilots in this state.' }),
    ),
  }),
  result: dataOf(Type.Array(Autopilot)),
  errors,
});

export const createAutopilot = endpoint({
  id: 'createAutopilot',
  method: 'POST',
  path: '/api/autopilots',
  summary: 'Create an autopilot.',
  description: 'A handle that is taken gets a numeric suffix; by default it is derived from the name.',
  tag: 'Autopilots',
  access,
  surface: 'site',
  body: Type.Object(
    {
      displayName,
      ...changeable,
      status: Type.Optional(Type.Enum(['active', 'disabled'], { description: 'Default: `active`.' })),
    },
    { additionalProperties: false },
  ),
  result: dataOf(AutopilotDetails),
  errors,
});

export const getAutopilot = endpoint({
  id: 'getAutopilot',
  method: 'GET',
  path: '/api/autopilots/{autopilot}',
  summary: 'Show an autopilot.',
  description: 'Includes its profile and policy.',
  tag: 'Autopilots',
  access,
  surface: 'site',
  params,
  result: dataOf(AutopilotDetails),
  errors: [...errors, 'not_found'],
});

export const updateAutopilot = endpoint({
  id: 'updateAutopilot',
  method: 'PATCH',
  path: '/api/autopilots/{autopilot}',
  summary: 'Update an autopilot.',
  description:
    'Omitted members are unchanged, also within `profile` and `policy`; null clears. An archived autopilot cannot be changed.',
  tag: 'Autopilots',
  access,
  surface: 'site',
  params,
  body: Type.Object(
    { displayName: Type.Optional(displayName), ...changeable, status: Type.Optional(Status) },
    { additionalProperties: false, minProperties: 1 },
  ),
  result: dataOf(AutopilotDetails),
  errors: [...errors, 'not_found'],
});

export const archiveAutopilot = endpoint({
  id: 'archiveAutopilot',
  method: 'DELETE',
  path: '/api/autopilots/{autopilot}',
  summary: 'Archive an autopilot.',
  description: 'It can still be read, but no longer changed.',
  tag: 'Autopilots',
  access,
  surface: 'site',
  params,
  result: dataOf(AutopilotDetails),
  errors: [...errors, 'not_found'],
});

export type Autopilot = Static<typeof Autopilot>;
export type AutopilotDetails = Static<typeof AutopilotDetails>;
export type AutopilotProfile = Static<typeof AutopilotProfile>;
export type AutopilotPolicy = Static<typeof AutopilotPolicy>;
export type AutopilotStatus = (typeof autopilotStatuses)[number];
export type AutopilotVisibility = (typeof autopilotVisibilities)[number];
