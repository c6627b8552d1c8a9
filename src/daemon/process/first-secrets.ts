import type { createApp } from '../app.ts';
import { type DataFile, readSecretFile, writeSecretFile } from './data-folder.ts';

/** What the first start makes, written where the commands find it. */
export async function firstSecrets(app: Pick<ReturnType<typeof createApp>, 'bootstrap'>, file: DataFile) {
  const login = await readSecretFile(file('login'));
  const defaultKey = await readSecretFile(file('defaultKey'));
  const first = await app.bootstrap({ login, defaultKey });
  if (first.write.login !== undefined) await writeSecretFile(file('login'), first.write.login);
  if (first.write.defaultKey !== undefined) await writeSecretFile(file('defaultKey'), first.write.defaultKey);
  return first;
}
