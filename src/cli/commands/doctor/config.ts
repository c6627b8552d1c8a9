import { statSync } from 'node:fs';
import { KeychainFailure, openKeychain } from '../../../keychain/index.ts';
import type { Context } from '../../context.ts';
import { type Finding, readSettings } from './finding.ts';

/** Every fault of the configuration file and of the variables that are read with it. */
export async function checkConfig(context: Context): Promise<Finding[]> {
  const { env, platform, home } = context;
  const tools = await (await context.daemon()).loadConfigTools();
  const place = { env, platform, home };
  const { settings, faults } = await tools.explain(place);
  const path = tools.path(place);
  if (faults.length > 0) {
    return faults.map(({ place: where, message }) => ({
      check: 'config',
      state: 'broken',
      message: `${where}: ${message}`,
      remedy: `Mend it, then: gateway reload`,
    }));
  }
  const own = settings.filter(({ source }) => source !== 'default').length;
  const found = own === 0 ? 'nothing is set' : own === 1 ? '1 setting' : `${own} settings`;
  return [
    { check: 'config', state: 'ok', message: `${path}: ${found}`, remedy: null },
    ...writers(context, path),
  ];
}

/** Whoever may write the file may have the keys of providers sent elsewhere. */
function writers({ platform }: Context, path: string): Finding[] {
  const file = platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!file || (file.mode & 0o022) === 0) return [];
  return [
    {
      check: 'config',
      state: 'broken',
      message: `${path}: others may write it, and have the keys of your providers sent to themselves`,
      remedy: `chmod go-w ${path}`,
    },
  ];
}

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
