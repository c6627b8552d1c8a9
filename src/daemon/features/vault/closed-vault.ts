import type { VaultStatus } from '../../../shared/contract/vault.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { MasterRecord } from './store.ts';

/** Why a vault is not open, with the remedy. */
export interface Closed {
  state: Exclude<VaultStatus['state'], 'unlocked'>;
  reason: string;
}

/** A request needs a secret. The message has the remedy. */
export class VaultClosed extends ApiError {
  constructor({ reason }: Closed) {
    super('unavailable', { message: `The vault is not open. ${reason}` });
    this.name = 'VaultClosed';
  }
}

/** No secret was stored yet. */
export const notCreatedYet: Closed = {
  state: 'no_vault',
  reason: 'It is created when the first secret is stored.',
};

/** A vault that was not used yet. */
export function notOpenedYet(record: MasterRecord | undefined): Closed {
  if (record === undefined) return notCreatedYet;
  if (record.store === 'passphrase') {
    return { state: 'sealed', reason: 'It opens with its passphrase: gateway vault unlock' };
  }
  return { state: 'sealed', reason: 'It opens on first use, or with: gateway vault unlock' };
}

export const wrongPassphrase =
  'The passphrase in the file is wrong. Fix the file, or enter the passphrase: gateway vault unlock';

export const anotherKey =
  'The stored master key does not match this database: it belongs to another one, or this is a restored copy. ' +
  'Restore the right key, or enter the output of `gateway vault export`: gateway vault unlock --master-key';

export const notSetUp = {
  file: 'Its master key is in a file: set GATEWAY_MASTER_KEY_FILE and restart.',
  keychain: 'Its master key is in the keychain, which the configuration disables.',
  plain: 'Its master key is in a plain file, which the configuration no longer allows.',
} as const;

export const notFound = {
  file: 'The master key file is empty.',
  keychain:
    'The keychain is locked, or no longer holds the master key. Unlock it, then: gateway vault unlock. ' +
    'If it is lost, enter the output of `gateway vault export`: gateway vault unlock --master-key',
  plain:
    'The plain file of the master key is missing. Restore it from a backup, or enter the output of `gateway vault export`: ' +
    'gateway vault unlock --master-key',
} as const;
