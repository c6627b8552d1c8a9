import type { KeychainFault } from './keychain-failure.ts';

/** Every item of this program lies under this name. */
export const service = 'gateway';

/** What the child is told, as one JSON text on its standard input. */
export type KeychainRequest = { account: string; limitMs: number } & (
  | { action: 'get' | 'delete' }
  | { action: 'set'; value: string }
);

/** What it answers, as one JSON text on its standard output. */
export type KeychainAnswer =
  | { ok: true; value: string | null; wasDeleted?: boolean }
  | { ok: false; fault: KeychainFault; detail: string };
