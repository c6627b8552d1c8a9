import type { VaultStatus } from '../../../shared/contract/vault.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { MasterRecord } from './vault-store.ts';

/** Why a vault is not open, and what helps. */
export interface Closed {
  state: Exclude<VaultStatus['state'], 'unlocked'>;
  reason: string;
}

/** What those are told who need a secret now. */
export function shut({ reason }: Closed): ApiError {
  return new ApiError('unavailable', { message: `The vault is not open. ${reason}` });
}

/** Nothing was sealed yet, and nothing is wrong. */
export const notMade: Closed = { state: 'no_vault', reason: 'It is made when the first secret is stored.' };

/** A vault that nobody has needed yet. */
export function notTried(record: MasterRecord | undefined): Closed {
  if (record === undefined) return notMade;
  if (record.store === 'passphrase') {
    return { state: 'sealed', reason: 'It opens with its passphrase: gateway vault unlock' };
  }
  return { state: 'sealed', reason: 'It is opened when it is first needed, or by: gateway vault unlock' };
}

export const wrongPassphrase =
  'The passphrase in the file is not the one of this vault. Mend the file, or give the passphrase: gateway vault unlock';

export const anotherKey =
  'The master key that was found is not the one of this database: it belongs to another one, or this is a restored copy. ' +
  'Bring the right one back, or give what `gateway vault export` once printed: gateway vault unlock --master-key';

export const notSetUp = {
  file: 'Its master key is in a file: name it with GATEWAY_MASTER_KEY_FILE and start again.',
  keychain: 'Its master key is in the keychain, which the configuration switches off.',
  plain: 'Its master key is in a plain file, which the configuration does not allow any more.',
} as const;

export const notFound = {
  file: 'The file of the master key is empty.',
  keychain:
    'The keychain is locked, or no longer holds the master key. Unlock it, then: gateway vault unlock. ' +
    'If it is lost, give what `gateway vault export` once printed: gateway vault unlock --master-key',
  plain:
    'The plain file of the master key is gone. Bring it back from a backup, or give what `gateway vault export` once printed: ' +
    'gateway vault unlock --master-key',
} as const;
