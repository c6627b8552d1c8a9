import type { KeychainFault } from './keychain-failure.ts';

/** The service name of every item. */
export const service = 'gateway';

/** What the child writes when it asks the keychain; its answer is the same JSON after it. */
export const started = '\n';

/** A request to the child, one JSON text on its standard input. */
export type KeychainRequest = { account: string; limitMs: number } & (
  | { action: 'get' | 'delete' }
  | { action: 'set'; value: string }
);

/** A response of the child, one JSON text on its standard output. */
export type KeychainAnswer =
  | { ok: true; value: string | null; wasDeleted?: boolean }
  | { ok: false; fault: KeychainFault; detail: string };
