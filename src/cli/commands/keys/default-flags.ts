import { type Command, Option } from '@commander-js/extra-typings';
import type { CacheMode, KeyDefaults, KeyDefaultsChange } from '../../../shared/contract/key-defaults.ts';

/** As the contract has them; loading it would load its schemas too. */
const cacheModes = ['off', 'read-only', 'read-write'] as const satisfies readonly CacheMode[];

/** What the flags of `defaultFlags` say. */
export interface DefaultFlags {
  cache?: CacheMode | undefined;
  store?: 'yes' | 'no' | undefined;
}

/** Adds what holds for a key's calls that do not say: the same flags wherever that is set. */
export function defaultFlags<A extends unknown[], O extends Record<string, unknown>>(command: Command<A, O>) {
  return command
    .addOption(
      new Option('--cache <mode>', 'what its calls that do not say have of the response cache').choices(
        cacheModes,
      ),
    )
    .addOption(
      new Option('--store <whether>', 'whether responses of its calls that do not say are stored').choices([
        'yes',
        'no',
      ] as const),
    );
}

/** What is sent for the flags that were given. */
export function defaultsChange({ cache, store }: DefaultFlags): KeyDefaultsChange {
  return { ...(cache !== undefined && { cache }), ...(store !== undefined && { store: store === 'yes' }) };
}

/** What holds for a key's calls that do not say, on one line; empty where the host decides. */
export function defaultsText({ cache, store }: KeyDefaults): string {
  const parts: string[] = [];
  if (cache !== null) parts.push(`cache ${cache}`);
  if (store !== null) parts.push(store ? 'stored' : 'not stored');
  return parts.join(', ');
}
