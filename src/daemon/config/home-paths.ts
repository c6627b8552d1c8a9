import { isObject } from '../../shared/json/json-object.ts';
import type { ConfigFile } from './schema.ts';

/** The settings that name files. */
const settings = [
  'listen.socket',
  'paywalls.nginx.file',
  'simulate',
  'storage.url_file',
  'vault.master_key_file',
  'vault.passphrase_file',
  'wallet.certificate_file',
  'wallet.secret_file',
] as const;

/** The configuration with paths that begin with `~/` in the home folder, as a shell would have read them. */
export function withHomePaths(file: ConfigFile, home: string): ConfigFile {
  const copy = structuredClone(file);
  for (const setting of settings) {
    const names = setting.split('.');
    const last = names.pop() ?? '';
    let group: unknown = copy;
    for (const name of names) group = isObject(group) ? group[name] : undefined;
    const path = isObject(group) ? group[last] : undefined;
    if (isObject(group) && typeof path === 'string' && path.startsWith('~/'))
      group[last] = `${home}${path.slice(1)}`;
  }
  return copy;
}
