import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable, Timestamp } from './vocabulary.ts';

const owner = { login: 'owner', loginOnly: true } as const;

const ProviderName = Type.Object({
  provider: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The name of a provider or an upstream.',
  }),
});

/** A bench of a provider that was ended. */
const EndedBench = Type.Object({
  workspace: nullable(
    Type.String({ description: 'The workspace whose own key was benched; null for the host’s key.' }),
  ),
  model: nullable(Type.String({ description: 'The provider’s name of the model; null for the account.' })),
  key: nullable(Type.String({ description: 'The name of the key, of a provider with several.' })),
  reason: Type.String({
    description: '`authentication`, `billing`, `forbidden`, `rate-limited`, `unknown-model` or `failing`.',
  }),
});

export const retryProvider = endpoint({
  id: 'retryProvider',
  method: 'POST',
  path: '/v1/admin/providers/{provider}/retry',
  summary: 'End the benches of a provider.',
  description:
    'The next calls try all its accounts and models again, whatever they failed with before, such as after credit was added there. Other daemons of the database keep their benches.',
  tag: 'Models',
  access: owner,
  params: ProviderName,
  result: Type.Object({ provider: Type.String(), ended: Type.Array(EndedBench) }),
});

/** What came of asking a provider. */
const CheckedProvider = Type.Object({
  provider: Type.String(),
  key: nullable(Type.String({ description: 'The name of the key, of a provider with several.' })),
  problem: nullable(
    Type.Enum(['certificate', 'key', 'credit', 'address', 'redirect', 'proxy', 'unreachable', 'failing'], {
      description: 'What is wrong; null if it answers and accepts the key.',
    }),
  ),
  message: Type.String({ description: 'For people.' }),
  remedy: nullable(Type.String({ description: 'How to fix it.' })),
  ms: Type.Integer({ minimum: 0 }),
  ended: Type.Array(EndedBench, { description: 'The benches that ended, as it answers.' }),
});

export const checkProviders = endpoint({
  id: 'checkProviders',
  method: 'POST',
  path: '/v1/admin/providers/check',
  summary: 'Check that the providers answer.',
  description:
    'Asks each provider that the host can call for something free, with its key, all at once and for five seconds at most. The benches of the host’s account end at those that answer.',
  tag: 'Models',
  access: owner,
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(CheckedProvider) }),
});

const ProviderView = Type.Object(
  {
    provider: Type.String(),
    kind: Type.String({
      description: 'A known provider by its name, `compatible` (an upstream), `local` or `simulator`.',
    }),
    base_url: nullable(Type.String({ description: 'Without user names, passwords and parameters.' })),
    formats: Type.Array(Type.String(), {
      description: '`chat`, `responses`, `messages`; none if it has its own.',
    }),
    key: Type.Object({
      variable: nullable(
        Type.String({ description: 'The variable that its key comes from; null if it needs none.' }),
      ),
      set: Type.Boolean(),
      sealed: Type.Boolean({
        description: 'Whether it is a key in the vault, which counts before the variable.',
      }),
    }),
    keys: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The variable that it comes from.' }),
        hint: Type.String({ description: 'Its last four characters.' }),
        attempts: Type.Integer({ minimum: 0, description: 'Requests with it since the daemon started.' }),
        failed: Type.Integer({ minimum: 0, description: 'Those that failed.' }),
        last_used_at: nullable(Timestamp),
        is_benched: Type.Boolean({ description: 'Whether it is left out, or tried last, for any model.' }),
      }),
      { description: 'The host’s keys in the order of the configuration, if there are several.' },
    ),
    models: Type.Integer({ minimum: 0 }),
    state: Type.Enum(['available', 'benched', 'unavailable']),
    reason: nullable(Type.String({ description: 'Why it is unavailable or benched.' })),
    benches: Type.Array(
      Type.Object({
        ...EndedBench.properties,
        since: Timestamp,
        next_attempt_at: nullable(Timestamp),
      }),
      { description: 'Current ones. A call is tried at `next_attempt_at`; null if it is due.' },
    ),
    concurrency: nullable(
      Type.Object(
        {
          calls: Type.Integer({ minimum: 1, description: 'How many may run at a time.' }),
          running: Type.Integer({ minimum: 0 }),
          waiting: Type.Integer({ minimum: 0 }),
        },
        { description: 'The limit of concurrent calls, and how busy it is now; null without one.' },
      ),
    ),
    dropped: Type.Array(Type.String(), { description: 'Members that the configuration leaves out.' }),
    renamed: Type.Record(Type.String(), Type.String(), {
      description: 'Members that the configuration renames, with their new names.',
    }),
    learned: Type.Array(
      Type.Object({
        model: Type.String(),
        member: Type.String({ description: 'The member of requests to the model.' }),
        change: Type.Enum(['left-out', 'renamed', 'added', 'lowered']),
        becomes: nullable(
          Type.String({
            description:
              'Its name in requests to the model if it is renamed, its highest value if it is lowered.',
          }),
        ),
        learned_at: Timestamp,
        forgotten_at: Timestamp,
      }),
      { description: 'What its models refused, and how requests are written since. A reload forgets it.' },
    ),
  },
  { $id: 'ProviderDetails' },
);

export const getProvider = endpoint({
  id: 'getProvider',
  method: 'GET',
  path: '/v1/admin/providers/{provider}',
  summary: 'Show a provider.',
  description: 'Its address, the source of its key, its benches, and what its models turned out to refuse.',
  tag: 'Models',
  access: owner,
  params: ProviderName,
  result: ProviderView,
});

export type ProviderView = Static<typeof ProviderView>;
export type CheckedProvider = Static<typeof CheckedProvider>;
export type EndedBench = Static<typeof EndedBench>;
