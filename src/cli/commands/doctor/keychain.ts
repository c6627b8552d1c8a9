import { KeychainFailure, openKeychain } from '../../../keychain/index.ts';
import type { Context } from '../../context.ts';
import type { Finding } from './finding.ts';

const timeoutMs = 3_000;
/** Nothing is ever kept under this name: whether one may ask is all that is asked. */
const probe = 'doctor';

/** Whether the keychain of the operating system can be asked: logins and the master key are kept there. */
export async function checkKeychain({ env }: Context): Promise<Finding[]> {
  try {
    await openKeychain({ timeoutMs, env }).get(probe);
    return [{ check: 'keychain', state: 'ok', message: 'it answers', remedy: null }];
  } catch (error) {
    if (!(error instanceof KeychainFailure)) throw error;
    return [
      {
        check: 'keychain',
        state: 'warning',
        message: error.message,
        remedy: 'Without one, keep the master key elsewhere: gateway config set vault.store passphrase',
      },
    ];
  }
}
