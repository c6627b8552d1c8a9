import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { dataOf, pageSizeMax, RowId } from './site.ts';
import { AnyObject, maybe, OneLine, Timestamp } from './vocabulary.ts';

/** `active` and `disabled` change into each other; `archived` is the end of both. */
export const autopilotStatuses = ['active', 'disabled', 'archived'] as const;
export const autopilotVisibilities = ['private', 'discoverable', 'public'] as const;

const Status = Type.Enum([...autopilotStatuses], {
  description: '`active` and `disabled` change into each other; `archived` is the end of both.',
});
const Visibility = Type.Enum([...autopilotVisibilities], { description: 'Who may find it.' });

const members = {
  avatar: Type.String({ description: 'The address of a picture; empty where there is none.' }),
  configVersion: Type.Integer({ minimum: 1, description: 'Rises with each change of profile or policy.' }),
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

/** How it speaks and what for. What was never set is left out. */
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

/** What it may use and spend. What was never set is left out. */
export const AutopilotPolicy = Type.Object(
  {
    modelProvider: maybe(Type.String({ maxLength: 64 })),
    model: maybe(Type.String({ maxLength: 128 })),
    toolAllowlist: names(128, 'The only tools that it may use.'),
    toolDenylist: names(128, 'Tools that it may not use.'),
    l402RequireApproval: maybe(Type.Boolean({ description: 'Whether somebody is asked before it pays.' })),
    l402MaxSpendMsatsPerCall: msats('What it may pay at once.'),
    l402MaxSpendMsatsPerDay: msats('What it may pay a day.'),
    l402AllowedHosts: names(255, 'The only hosts that it may pay.'),
    dataPolicy: maybe(AnyObject),
  },
  { $id: 'AutopilotPolicy', additionalProperties: false },
);

/** An autopilot with how it is set up. */
export const AutopilotDetails = Type.Object(
  { ...members, profile: AutopilotProfile, policy: AutopilotPolicy },
  { $id: 'AutopilotDetails' },
);

const access = { apiKey: 'workspace', login: 'any', token: 'autopilots:*' } as const;
const errors = ['unauthenticated', 'permission', 'out_of_scope', 'invalid_request'] as const;
const params = Type.Object({
  autopilot: Type.String({ minLength: 1, maxLength: 64, description: 'The id or handle of one of yours.' }),
});

const changeable = {
  handle: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9:_-]+$',
      description:
        'Letters, digits, `:`, `_` and `-`; kept in lower case. `agent:` and `service:` do not begin one.',
    }),
  ),
  avatar: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: '^(https?://[^\\s\\u0000-\\u001f\\u007f]+)?$',
      description: 'The http or https address of a picture; empty for none.',
    }),
  ),
  tagline: Type.Optional(Type.String({ maxLength: 255 })),
  visibility: Type.Optional(Visibility),
  profile: Type.Optional(AutopilotProfile),
  policy: Type.Optional(AutopilotPolicy),
};
const displayName = OneLine({ maxLength: 120, description: 'Its name, for people.' });

/** Lists the caller's autopilots. */
export const listAutopilots = endpoint({
  id: 'listAutopilots',
  method: 'GET',
  path: '/api/autopilots',
  summary: 'List your autopilots.',
  description: 'The latest changed first.',
  tag: 'Autopilots',
  access,
  surface: 'site',
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: `How many; 100 unless told, and never more than ${pageSizeMax}.`,
      }),
    ),
    status: Type.Optional(Type.Enum([...autopilotStatuses], { description: 'Only those in this state.' })),
  }),
  result: dataOf(Type.Array(Autopilot)),
  errors,
});

/** Makes an autopilot. */
export const createAutopilot = endpoint({
  id: 'createAutopilot',
  method: 'POST',
  path: '/api/autopilots',
  summary: 'Create an autopilot.',
  description: 'A handle that is taken gets a number; without one it is made from the name.',
  tag: 'Autopilots',
  access,
  surface: 'site',
  body: Type.Object(
    {
      displayName,
      ...changeable,
      status: Type.Optional(Type.Enum(['active', 'disabled'], { description: '`active` unless told.' })),
    },
    { additionalProperties: false },
  ),
  result: dataOf(AutopilotDetails),
  errors,
});

/** Reads an autopilot. */
export const getAutopilot = endpoint({
  id: 'getAutopilot',
  method: 'GET',
  path: '/api/autopilots/{autopilot}',
  summary: 'Show an autopilot.',
  description: 'With its profile and policy.',
  tag: 'Autopilots',
  access,
  surface: 'site',
  params,
  result: dataOf(AutopilotDetails),
  errors: [...errors, 'not_found'],
});

/** Changes an autopilot. */
export const updateAutopilot = endpoint({
  id: 'updateAutopilot',
  method: 'PATCH',
  path: '/api/autopilots/{autopilot}',
  summary: 'Change an autopilot.',
  description:
    'What is left out stays, also within `profile` and `policy`; null clears. An archived one does not change any more.',
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

/** Archives an autopilot. */
export const archiveAutopilot = endpoint({
  id: 'archiveAutopilot',
  method: 'DELETE',
  path: '/api/autopilots/{autopilot}',
  summary: 'Archive an autopilot.',
  description: 'It stays to be read, and does not change any more.',
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
