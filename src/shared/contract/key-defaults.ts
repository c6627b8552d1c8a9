import { type Static, Type } from 'typebox';
import { captureLevels } from '../constants/capture-levels.ts';
import { endpoint } from './endpoint.ts';
import { keyPath } from './key-limits.ts';
import { maybe, nullable } from './vocabulary.ts';

/** Cache modes of a call. */
export const cacheModes = ['off', 'read-only', 'read-write'] as const;

const Mode = (description: string) => Type.Enum([...cacheModes], { description });

const Capture = Type.Enum([...captureLevels], {
  description:
    'The most of the content of its calls that is kept, which is not more than what host and workspace keep.',
});

/** Changes to a key's defaults: omitted members are unchanged, null clears. */
export const KeyDefaultsChange = Type.Object(
  {
    cache: maybe(Mode('For calls without `service.cache`.')),
    store: maybe(Type.Boolean({ description: 'For `POST /v1/responses` without `store`.' })),
    events: maybe(Type.Boolean({ description: 'For streams of calls without `service.events`.' })),
    capture: maybe(Capture),
  },
  {
    $id: 'KeyDefaultsChange',
    additionalProperties: false,
    description: 'Omitted members are unchanged; null clears.',
  },
);

/** A key's defaults for calls that do not set these options; null: the host decides. */
export const KeyDefaults = Type.Object(
  {
    cache: nullable(Mode('For calls without `service.cache`.')),
    store: nullable(Type.Boolean({ description: 'For `POST /v1/responses` without `store`.' })),
    events: nullable(Type.Boolean({ description: 'For streams of calls without `service.events`.' })),
    capture: nullable(Capture),
  },
  {
    $id: 'KeyDefaults',
    description: 'The key’s defaults for calls that do not set these options; null: the host decides.',
  },
);

export const setKeyDefaults = endpoint({
  id: 'setKeyDefaults',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/keys/{key}/defaults',
  summary: 'Set the defaults of a key.',
  description:
    'Defaults for calls that do not set these options: use of the response cache, storage of responses, `service:*` events in streams, and what is kept of their content. Only the key’s owner may change them, never the key itself. Omitted members are unchanged; null clears. Applies from the next request.',
  tag: 'Keys',
  access: { login: 'any', loginOnly: true },
  params: keyPath,
  body: KeyDefaultsChange,
  result: KeyDefaults,
});

export type CacheMode = (typeof cacheModes)[number];
export type KeyDefaults = Static<typeof KeyDefaults>;
export type KeyDefaultsChange = Static<typeof KeyDefaultsChange>;
