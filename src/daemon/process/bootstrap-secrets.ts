import { type DataFile, readSecretFile, writeSecretFile } from './data-folder.ts';

interface Secrets {
  login: string | undefined;
  defaultKey: string | undefined;
}

interface Bootstrapper<Result> {
  bootstrap(existing: Secrets): Promise<Result>;
}

/** Bootstraps the app and writes the secrets that it created where the commands find them. */
export async function bootstrapSecrets<Result extends { write: Partial<Secrets> }>(
  app: Bootstrapper<Result>,
  file: DataFile,
): Promise<Result> {
  const login = await readSecretFile(file('login'));
  const defaultKey = await readSecretFile(file('defaultKey'));
  const created = await app.bootstrap({ login, defaultKey });
  if (created.write.login !== undefined) await writeSecretFile(file('login'), created.write.login);
  if (created.write.defaultKey !== undefined)
    await writeSecretFile(file('defaultKey'), created.write.defaultKey);
  return created;
}
