import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { keyPath } from './key-limits.ts';
import { maybe, nullable } from './vocabulary.ts';

/** What a call may have to do with the response cache. */
export const cacheModes = ['off', 'read-only', 'read-write'] as const;

const Mode = (description: string) => Type.Enum([...cacheModes], { description });

/** The defaults that are to change: what is left out stays, null clears. */
export const KeyDefaultsChange = Type.Object(
  {
    cache: maybe(Mode('For calls without `service.cache`.')),
    store: maybe(Type.Boolean({ description: 'For calls of `POST /v1/responses` without `store`.' })),
  },
  {
    $id: 'KeyDefaultsChange',
    additionalProperties: false,
    description: 'What is left out stays as it is; null clears.',
  },
);

/** What holds for a key's calls that do not say; null where the host decides. */
export const KeyDefaults = Type.Object(
  {
    cache: nullable(Mode('For calls without `service.cache`.')),
    store: nullable(Type.Boolean({ description: 'For calls of `POST /v1/responses` without `store`.' })),
  },
  {
    $id: 'KeyDefaults',
    description: 'What holds for the key’s calls that do not say; null where the host decides.',
  },
);

/** Changes what holds for a key's calls that do not say. */
export const setKeyDefaults = endpoint({
  id: 'setKeyDefaults',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/keys/{key}/defaults',
  summary: 'Set the defaults of a key.',
  description:
    'What holds for its calls that do not say: whether answers come from the response cache, and whether responses are stored. Only the key’s owner may, and never the key itself. What is left out stays, null clears. It counts for the next request.',
  tag: 'Keys',
  access: { login: 'any', loginOnly: true },
  surface: 'v1',
  params: keyPath,
  body: KeyDefaultsChange,
  result: KeyDefaults,
  errors: ['unauthenticated', 'signed_out', 'permission', 'not_found', 'invalid_request'],
});

export type CacheMode = (typeof cacheModes)[number];
export type KeyDefaults = Static<typeof KeyDefaults>;
export type KeyDefaultsChange = Static<typeof KeyDefaultsChange>;
