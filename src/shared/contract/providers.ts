import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './vocabulary.ts';

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
  errors: ['unauthenticated', 'signed_out', 'permission', 'not_found'],
});

export type EndedBench = Static<typeof EndedBench>;
