import type { Key } from '../shared/contract/keys.ts';
import { ago } from './durations.ts';
import type { Field, Tone } from './field.ts';
import { limitsText } from './limits.ts';

interface KeyContext {
  /** In milliseconds since 1970. */
  now: number;
}

/** How the status of a key is coloured. */
function toneOfStatus({ status }: Pick<Key, 'status'>): Tone {
  if (status === 'active') return 'good';
  return status === 'paused' ? 'warn' : 'quiet';
}

/** What an API key has. */
export const keyFields: readonly Field<Key, KeyContext>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'name', value: ({ name }) => name, width: 12 },
  { name: 'status', value: ({ status }) => status, tone: toneOfStatus, width: 8 },
  { name: 'secret', value: ({ hint }) => hint, width: 18, spare: 4 },
  { name: 'scopes', value: ({ scopes }) => scopes.join(' ') },
  {
    name: 'limits',
    value: ({ limits }) => limitsText(limits),
    text: ({ limits }) => limitsText(limits) || 'none',
    width: 16,
    spare: 2,
  },
  {
    name: 'allowed_models',
    value: ({ models }) => models?.join(' '),
    text: ({ models }) => models?.join(' ') ?? 'all',
  },
  {
    name: 'allowed_actions',
    value: ({ actions }) => actions?.join(' '),
    text: ({ actions }) => actions?.join(' ') ?? 'all',
  },
  {
    name: 'created_at',
    value: ({ created_at: at }) => at,
    text: ({ created_at: at }, { now }) => ago(at, now),
    width: 14,
    spare: 3,
  },
  {
    name: 'last_used_at',
    value: ({ last_used_at: at }) => at,
    text: ({ last_used_at: at }, { now }) => ago(at, now),
    width: 14,
    spare: 1,
  },
];
