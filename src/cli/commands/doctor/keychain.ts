import { KeychainFailure, openKeychain } from '../../../keychain/index.ts';
import type { Context } from '../../context.ts';
import type { Finding } from './finding.ts';
import { readSettings } from './settings.ts';

const timeoutMs = 3_000;
/** Nothing is ever kept under this name: whether one may ask is all that is asked. */
const probe = 'doctor';

/**
 * Whether the keychain of the operating system can be asked: logins and the master key are kept there. Where the
 * configuration names another place, one that does not answer is nothing to warn of.
 */
export async function checkKeychain(context: Context): Promise<Finding[]> {
  const { env } = context;
  try {
    await openKeychain({ timeoutMs, env }).get(probe);
    return [{ check: 'keychain', state: 'ok', message: 'it answers', remedy: null }];
  } catch (error) {
    if (!(error instanceof KeychainFailure)) throw error;
    if (await isKeptElsewhere(context)) {
      const message = `${error.message} The master key is kept elsewhere, as the configuration says.`;
      return [{ check: 'keychain', state: 'ok', message, remedy: null }];
    }
    return [
      {
        check: 'keychain',
        state: 'warning',
        message: error.message,
        // One that is there and shut may hold the master key already: another place would not have it.
        remedy: /^(locked|timed-out)$/.test(error.fault)
          ? 'Once it is open: gateway vault unlock'
          : 'Without one, keep the master key elsewhere: gateway config set vault.store passphrase',
      },
    ];
  }
}

async function isKeptElsewhere(context: Context): Promise<boolean> {
  const setting = await readSettings(context);
  if (setting === undefined) return false;
  const store = setting('vault.store');
  if (store !== null) return store !== 'keychain';
  const isFileNamed = Boolean(setting('vault.master_key_file') || setting('vault.passphrase_file'));
  return isFileNamed || setting('vault.keychain') === false;
}
