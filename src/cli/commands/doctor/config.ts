import { statSync } from 'node:fs';
import { KeychainFailure, openKeychain } from '../../../keychain/index.ts';
import type { ConfigLocation, ConfigTools } from '../../../shared/daemon-module.ts';
import type { Context } from '../../context.ts';
import { type Finding, readSettings } from './finding.ts';

/** Reports every error in the configuration file and in the environment variables that override it. */
export async function checkConfig(context: Context): Promise<Finding[]> {
  const { env, platform, home } = context;
  const tools = await (await context.daemon()).loadConfigTools();
  const location = { env, platform, home };
  const { settings, faults } = await tools.explain(location);
  const path = tools.path(location);
  if (faults.length > 0) {
    return faults.map(({ place: where, message }) => ({
      check: 'config',
      state: 'broken',
      message: `${where}: ${message}`,
      remedy: `Fix it, then run: gateway reload`,
    }));
  }
  const own = settings.filter(({ source }) => source !== 'default').length;
  const found = own === 0 ? 'nothing is set' : own === 1 ? '1 setting' : `${own} settings`;
  return [
    { check: 'config', state: 'ok', message: `${path}: ${found}`, remedy: null },
    ...(await unknownModels(tools, location)),
    ...writers(context, path),
  ];
}

/** Names of models that the catalog does not have; calls with them may fail. */
async function unknownModels(tools: ConfigTools, location: ConfigLocation): Promise<Finding[]> {
  const warnings = await tools.warnings(location);
  return warnings.map(({ setting, message }) => ({
    check: 'config',
    state: 'warning',
    message: `${setting}: ${message}`,
    remedy: `gateway config set ${setting} MODEL`,
  }));
}

/** Anyone who can write the file can redirect calls, and the provider keys with them. */
function writers({ platform }: Context, path: string): Finding[] {
  const file = platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!file || (file.mode & 0o022) === 0) return [];
  return [
    {
      check: 'config',
      state: 'broken',
      message: `${path}: other users can write it, and so capture your provider keys`,
      remedy: `chmod go-w ${path}`,
    },
  ];
}

const timeoutMs = 3_000;
/** A name that is never stored: the check is only whether the keychain responds. */
const probe = 'doctor';

/**
 * Whether the operating system's keychain responds. It stores logins and the master key; if the configuration stores the
 * master key elsewhere, a keychain that does not respond is fine.
 */
export async function checkKeychain(context: Context): Promise<Finding[]> {
  const { env } = context;
  try {
    await openKeychain({ timeoutMs, env }).get(probe);
    return [{ check: 'keychain', state: 'ok', message: 'responding', remedy: null }];
  } catch (error) {
    if (!(error instanceof KeychainFailure)) throw error;
    if (await isKeptElsewhere(context)) {
      const message = `${error.message} The configuration stores the master key elsewhere.`;
      return [{ check: 'keychain', state: 'ok', message, remedy: null }];
    }
    return [
      {
        check: 'keychain',
        state: 'warning',
        message: error.message,
        // A locked keychain may already hold the master key, so do not suggest another store.
        remedy: /^(locked|timed-out)$/.test(error.fault)
          ? 'Unlock it, then run: gateway vault unlock'
          : 'To work without a keychain: gateway vault unlock --passphrase',
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
