import { type Static, Type } from 'typebox';
import { Run } from './chats.ts';
import { endpoint } from './endpoint.ts';
import { spendCap } from './key-limits.ts';
import { idempotencyHeaders, OnceHeaders } from './model-call.ts';
import { dataOf, pageLimit, pageOf, pageQuery, pageSizeMax, RowId, UserReference } from './site.ts';
import { AnyObject, everyone, maybe, nullable, OneLine, StrictObject, Timestamp, Usd } from './vocabulary.ts';

/** `active` and `disabled` can change into each other; `archived` is final. */
export const autopilotStatuses = ['active', 'disabled', 'archived'] as const;
/** Tools that the daemon runs for autopilots. */
export const autopilotTools = ['http_request', 'paid_http_request'] as const;
export const autopilotVisibilities = ['private', 'discoverable', 'public'] as const;

const Status = Type.Enum([...autopilotStatuses], {
  description: '`active` and `disabled` can change into each other; `archived` is final.',
});
const Visibility = Type.Enum([...autopilotVisibilities], {
  description:
    'Who finds it in the directory of the host while it is active: its owner alone (`private`), the users of the host (`discoverable`), or everyone (`public`).',
});

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
  nextRunAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'When its schedule runs it next; null while no run is planned.',
    }),
  ),
  ownerUserId: RowId,
  status: Status,
  tagline: Type.String(),
  updatedAt: Timestamp,
  visibility: Visibility,
};

/** An autopilot in a list. */
export const Autopilot = Type.Object(members, { $id: 'Autopilot' });

const tools = (description: string) =>
  maybe(Type.Array(Type.Enum([...autopilotTools]), { maxItems: 256, description }));
const msats = (description: string) =>
  maybe(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }));

/** Voice and purpose of an autopilot: the model gets them as instructions. Members that were never set are absent. */
export const AutopilotProfile = Type.Object(
  {
    ownerDisplayName: maybe(Type.String({ maxLength: 120 })),
    personaSummary: maybe(Type.String({ maxLength: 5000 })),
    autopilotVoice: maybe(Type.String({ maxLength: 64 })),
    principles: maybe(Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { maxItems: 64 })),
    preferences: maybe(AnyObject),
    onboardingAnswers: maybe(AnyObject),
  },
  { $id: 'AutopilotProfile', additionalProperties: false },
);

/** Model, tools and spending limits of an autopilot. Members that were never set are absent. */
export const AutopilotPolicy = Type.Object(
  {
    modelProvider: maybe(
      Type.String({ maxLength: 64, description: 'The only provider that its model is called at.' }),
    ),
    model: maybe(
      Type.String({
        maxLength: 128,
        description: 'Its model; the default model of the host if it is absent.',
      }),
    ),
    toolAllowlist: tools('The only tools it may use.'),
    toolDenylist: tools('Tools it may not use.'),
    modelSpendCap: maybe(
      spendCap(
        'Maximum charges for its model calls per period, in UTC, of all its runs together. Without it, only the limits of the key and the workspace apply.',
      ),
    ),
    l402RequireApproval: maybe(
      Type.Boolean({
        description:
          'Whether it only pays in runs that were started with `maxSpendMsats`; true unless it is set to false.',
      }),
    ),
    l402MaxSpendMsatsPerCall: msats(
      'Maximum amount of one payment, in millisatoshis; without it, it cannot pay.',
    ),
    l402MaxSpendMsatsPerDay: msats(
      'Maximum amount per UTC day, fees included, in millisatoshis; without it, it cannot pay.',
    ),
    l402AllowedHosts: maybe(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: 255,
          pattern: '^(\\*\\.)?([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:([0-9]{1,5}|\\*))?$',
        }),
        {
          maxItems: 256,
          description:
            'The only hosts it may send requests to and pay: `api.example.com`, `127.0.0.1:8080`, or `*.example.com` for every name below it. Without a port, port 443 for https and 80 for http; `api.example.com:*` is every port. Without them, it cannot send requests.',
        },
      ),
    ),
  },
  { $id: 'AutopilotPolicy', additionalProperties: false },
);

const maxSpendMsats = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    'The most that a run may pay in total, in millisatoshis without fees. It approves these payments if `l402RequireApproval` of the policy demands that.',
});

const messageText = { minLength: 1, pattern: '\\S' } as const;

const scheduleMembers = {
  cron: Type.String({
    minLength: 1,
    maxLength: 128,
    description:
      'Minute, hour, day of the month, month and day of the week, as in cron: `0 8 * * mon-fri`. Also `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`.',
  }),
  timeZone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The IANA time zone in which `cron` is read: `Europe/Rome`. Default: that of the host.',
  }),
  input: Type.String({
    ...messageText,
    maxLength: 20_000,
    description: 'What the autopilot is asked in each run.',
  }),
  paused: Type.Boolean({ description: 'Whether the schedule starts no runs for now.' }),
};

/** When an autopilot runs by itself. */
export const AutopilotSchedule = Type.Object(
  { ...scheduleMembers, maxSpendMsats: Type.Optional(maxSpendMsats) },
  { $id: 'AutopilotSchedule' },
);

const scheduleOptions = {
  timeZone: Type.Optional(scheduleMembers.timeZone),
  paused: Type.Optional(scheduleMembers.paused),
  maxSpendMsats: maybe(maxSpendMsats),
};
const scheduleDescription =
  'When it runs by itself; null for never. Its runs have the rights of the credential that set the schedule, and end with it if that is a key or an access token.';

const NewSchedule = Type.Object(
  { cron: scheduleMembers.cron, input: scheduleMembers.input, ...scheduleOptions },
  { additionalProperties: false, description: scheduleDescription },
);

const ScheduleChange = Type.Object(
  {
    cron: Type.Optional(scheduleMembers.cron),
    input: Type.Optional(scheduleMembers.input),
    ...scheduleOptions,
  },
  {
    additionalProperties: false,
    description: `${scheduleDescription} A new one needs \`cron\` and \`input\`.`,
  },
);

/** An autopilot with its profile, policy and schedule. */
export const AutopilotDetails = Type.Object(
  {
    ...members,
    profile: AutopilotProfile,
    policy: AutopilotPolicy,
    schedule: nullable(AutopilotSchedule),
    modelSpend: Type.Object(
      { dayUsd: Usd, monthUsd: Usd, totalUsd: Usd },
      { description: 'What its model calls were charged, of this day and month in UTC, and in total.' },
    ),
  },
  { $id: 'AutopilotDetails' },
);

const access = { apiKey: 'workspace', login: 'any', token: 'autopilots:*' } as const;
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
  query: Type.Object({
    limit: pageLimit(`Page size; default 100, at most ${pageSizeMax}.`),
    status: Type.Optional(
      Type.Enum([...autopilotStatuses], { description: 'Only autopilots in this state.' }),
    ),
  }),
  result: dataOf(Type.Array(Autopilot)),
});

/** An autopilot as others see it. */
export const ListedAutopilot = Type.Object(
  {
    avatar: members.avatar,
    createdAt: Timestamp,
    displayName: members.displayName,
    handle: members.handle,
    id: members.id,
    owner: UserReference,
    tagline: members.tagline,
    visibility: Type.Enum(['discoverable', 'public']),
  },
  { $id: 'ListedAutopilot' },
);

export const listDirectory = endpoint({
  id: 'listDirectory',
  method: 'GET',
  path: '/api/directory/autopilots',
  summary: 'List the autopilots that their owners show to others.',
  description:
    'Active ones, newest first: `public` ones for everyone, with or without a credential, and `discoverable` ones for users of the host, with a login, an API key or an access token. Only the owner of an autopilot sees its profile, policy and runs, and can run it.',
  tag: 'Autopilots',
  access: everyone,
  query: Type.Object(pageQuery),
  result: pageOf(ListedAutopilot),
});

export const createAutopilot = endpoint({
  id: 'createAutopilot',
  method: 'POST',
  path: '/api/autopilots',
  summary: 'Create an autopilot.',
  description: 'A handle that is taken gets a numeric suffix; by default it is derived from the name.',
  tag: 'Autopilots',
  access,
  body: StrictObject({
    displayName,
    ...changeable,
    schedule: maybe(NewSchedule),
    status: Type.Optional(Type.Enum(['active', 'disabled'], { description: 'Default: `active`.' })),
  }),
  result: dataOf(AutopilotDetails),
});

export const getAutopilot = endpoint({
  id: 'getAutopilot',
  method: 'GET',
  path: '/api/autopilots/{autopilot}',
  summary: 'Show an autopilot.',
  description: 'Includes its profile and policy.',
  tag: 'Autopilots',
  access,
  params,
  result: dataOf(AutopilotDetails),
});

export const updateAutopilot = endpoint({
  id: 'updateAutopilot',
  method: 'PATCH',
  path: '/api/autopilots/{autopilot}',
  summary: 'Update an autopilot.',
  description:
    'Omitted members are unchanged, also within `profile`, `policy` and `schedule`; null clears. An archived autopilot cannot be changed.',
  tag: 'Autopilots',
  access,
  params,
  body: Type.Object(
    {
      displayName: Type.Optional(displayName),
      ...changeable,
      schedule: maybe(ScheduleChange),
      status: Type.Optional(Status),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  result: dataOf(AutopilotDetails),
});

export const archiveAutopilot = endpoint({
  id: 'archiveAutopilot',
  method: 'DELETE',
  path: '/api/autopilots/{autopilot}',
  summary: 'Archive an autopilot.',
  description: 'It can still be read, but no longer changed.',
  tag: 'Autopilots',
  access,
  params,
  result: dataOf(AutopilotDetails),
});

/** A run of an autopilot, with what it answered. */
export const AutopilotRun = Type.Object(
  {
    ...Run.properties,
    output: nullable(
      Type.String({ description: 'The text of its answer; null until the run has completed.' }),
    ),
  },
  { $id: 'AutopilotRun' },
);

/** A run of an autopilot in a list, or times of its schedule at which it did not run. */
export const AutopilotRunEntry = Type.Object(
  {
    ...Run.properties,
    id: Type.String({ description: '`run_…`' }),
    chatId: nullable(Type.String({ description: '`th_…`; null for what was not run.' })),
    status: Type.Enum(['running', 'completed', 'failed', 'cancelled', 'missed', 'skipped'], {
      description:
        '`missed`: the daemon was not running at that time. `skipped`: the run could not start; `error` has the reason.',
    }),
    notRun: nullable(
      Type.Object(
        {
          count: Type.Integer({ minimum: 1, description: 'At most 1,000.' }),
          firstAt: Timestamp,
          lastAt: Timestamp,
        },
        { description: 'How many runs of the schedule are missing, and when they were due; null for a run.' },
      ),
    ),
  },
  { $id: 'AutopilotRunEntry' },
);

/** What a run is started with. */
const runMembers = {
  input: Type.Union(
    [
      Type.String({ ...messageText, description: 'A user message.' }),
      Type.Array(
        StrictObject({ role: Type.Enum(['user', 'assistant']), content: Type.String(messageText) }),
        { minItems: 1, maxItems: 256, description: 'Messages of a conversation.' },
      ),
    ],
    { description: 'What the autopilot is asked: a text, or messages.' },
  ),
  maxSpendMsats: Type.Optional(maxSpendMsats),
};
const runDescription = [
  'Its model is called with its profile as instructions, and may use tools of the daemon until it answers: requests to the hosts of the policy, and payments within its limits.',
  'Returns immediately; the run continues by itself. Needs an active autopilot. Keys also need the scopes `responses` and `threads`, and `billing` for payments; access tokens need `payments` for them.',
].join(' ');
const runParams = Type.Object({
  ...params.properties,
  run: Type.String({ minLength: 1, maxLength: 64, description: 'The id of one of its runs: `run_…`.' }),
});

export const runAutopilot = endpoint({
  id: 'runAutopilot',
  method: 'POST',
  path: '/api/autopilots/{autopilot}/runs',
  summary: 'Run an autopilot.',
  description: runDescription,
  tag: 'Autopilots',
  access,
  headers: OnceHeaders,
  responseHeaders: idempotencyHeaders,
  params,
  body: StrictObject({
    ...runMembers,
    chatId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The chat that the run continues: `th_…`. By default it starts one.',
      }),
    ),
  }),
  result: dataOf(AutopilotRun),
  errors: ['rate_limited'],
});

export const runChat = endpoint({
  id: 'runChat',
  method: 'POST',
  path: '/api/chats/{conversationId}/runs',
  summary: 'Run the autopilot of a chat.',
  description: `The chat must have been created with \`autopilot\`, or by a run of one. ${runDescription}`,
  tag: 'Autopilots',
  access,
  headers: OnceHeaders,
  responseHeaders: idempotencyHeaders,
  params: Type.Object({
    conversationId: Type.String({ minLength: 1, maxLength: 64, description: 'The id of a chat: `th_…`.' }),
  }),
  body: StrictObject(runMembers),
  result: dataOf(AutopilotRun),
  errors: ['rate_limited'],
});

export const listAutopilotRuns = endpoint({
  id: 'listAutopilotRuns',
  method: 'GET',
  path: '/api/autopilots/{autopilot}/runs',
  summary: 'List the runs of an autopilot.',
  description: 'Newest first, with the runs of its schedule that were missed or skipped.',
  tag: 'Autopilots',
  access,
  params,
  query: Type.Object({
    limit: pageLimit(`Page size; default 100, at most ${pageSizeMax}.`),
  }),
  result: dataOf(Type.Array(AutopilotRunEntry)),
});

export const getAutopilotRun = endpoint({
  id: 'getAutopilotRun',
  method: 'GET',
  path: '/api/autopilots/{autopilot}/runs/{run}',
  summary: 'Show a run of an autopilot.',
  description: 'Includes its answer. The messages of its tools are those of its chat.',
  tag: 'Autopilots',
  access,
  params: runParams,
  result: dataOf(AutopilotRun),
});

export const cancelAutopilotRun = endpoint({
  id: 'cancelAutopilotRun',
  method: 'POST',
  path: '/api/autopilots/{autopilot}/runs/{run}/cancel',
  summary: 'Cancel a run of an autopilot.',
  description: 'What it used and paid so far stays charged. A run that has ended is returned unchanged.',
  tag: 'Autopilots',
  access,
  underLoad: 'kept',
  params: runParams,
  result: dataOf(AutopilotRun),
});

export type Autopilot = Static<typeof Autopilot>;
export type AutopilotDetails = Static<typeof AutopilotDetails>;
export type AutopilotProfile = Static<typeof AutopilotProfile>;
export type AutopilotPolicy = Static<typeof AutopilotPolicy>;
export type AutopilotRun = Static<typeof AutopilotRun>;
export type AutopilotRunEntry = Static<typeof AutopilotRunEntry>;
export type ListedAutopilot = Static<typeof ListedAutopilot>;
export type AutopilotSchedule = Static<typeof AutopilotSchedule>;
export type AutopilotTool = (typeof autopilotTools)[number];
export type AutopilotStatus = (typeof autopilotStatuses)[number];
export type AutopilotVisibility = (typeof autopilotVisibilities)[number];
