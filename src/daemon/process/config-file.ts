import { createHash } from 'node:crypto';
import { access, constants, lstat, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { ConfigChange, ConfigWarning } from '../../shared/contract/configuration.ts';
import { ApiError } from '../../shared/errors.ts';
import { type Config, ConfigInvalid, loadConfig } from '../config/config.ts';
import type { HostKeys } from '../config/settings/calls.ts';
import type { ConfigFlags } from '../config/settings/setting.ts';
import { changedSincePreview, type HostEntry, type PlannedChange } from '../features/configuration/index.ts';
import { providerApis } from '../upstream/providers/registry.ts';

interface ConfigFileDeps {
  config: Pick<Config, 'configFile'>;
  flags: ConfigFlags;
  env: Record<string, string | undefined>;
  /** The models of a configuration that none of its providers is known to have. */
  unknownModels: (config: Config) => Promise<(ConfigWarning & { model: string })[]>;
}

/** The configuration file as the API changes it: what a change would do, and doing it. */
export function createConfigFile({
  config: { configFile: path },
  flags,
  env,
  unknownModels,
}: ConfigFileDeps) {
  const load = (text: string) =>
    loadConfig({ flags, env, platform: process.platform, home: homedir(), text });
  const newlyUnknown = async (before: Config, after: Config) => {
    const known = new Set((await unknownModels(before)).map(({ setting, model }) => `${setting} ${model}`));
    return (await unknownModels(after)).flatMap(({ setting, model, message }) =>
      known.has(`${setting} ${model}`) ? [] : [{ setting, model, message }],
    );
  };
  return {
    /** Fails with `invalid_request`, or `conflict` if the file itself has faults. */
    async plan(changes: readonly ConfigChange[]): Promise<PlannedChange> {
      const { editText } = await import('../config/edit-text.ts');
      const { unchangeable } = await import('../config/changeable.ts');
      const { maskedConfigText } = await import('../config/masked-text.ts');
      const before = await currentText(path);
      const configBefore = await load(before).catch((error: unknown) => {
        throw invalid(error, 'conflict', 'The configuration file has to be mended first.');
      });
      let after = before;
      for (const [at, { setting: name, value }] of changes.entries()) {
        const problem = unchangeable(name, value);
        if (problem !== undefined)
          throw new ApiError('invalid_request', { param: `changes[${at}].setting`, message: problem });
        const edited = editText(after, path, { name, value: value ?? undefined });
        if ('faults' in edited)
          throw new ApiError('invalid_request', {
            param: `changes[${at}].value`,
            message: edited.faults.map(({ message }) => sentence(message)).join(' '),
          });
        after = edited.text;
      }
      const configAfter = await load(after).catch((error: unknown) => {
        throw invalid(error, 'invalid_request', 'The daemon could not start with this configuration.');
      });
      const { explainSettings } = await import('../config/explain.ts');
      const overridden = explainSettings({ flags, env, text: after, path }).filter(
        ({ name, source }) =>
          (source === 'flag' || source === 'environment') &&
          changes.some((change) => change.setting === name),
      );
      return {
        file: path,
        before,
        after,
        shown: { before: maskedConfigText(before), after: maskedConfigText(after) },
        entries: { before: entriesOf(configBefore), after: entriesOf(configAfter) },
        unknownModels: await newlyUnknown(configBefore, configAfter),
        version: createHash('sha256')
          .update(JSON.stringify([path, before, after]))
          .digest('hex')
          .slice(0, 40),
        notes: overridden.map(
          ({ name, place }) =>
            `${name} stays as ${place ?? 'the command line'} says, which counts before the file.`,
        ),
        ...(await placeOf(path)),
      };
    },

    /** Replaces the file at once. Fails with `conflict` and changes nothing if it is another one than was planned. */
    async write({ before, after }: PlannedChange): Promise<void> {
      const { writeWhole } = await import('../config/set-value.ts');
      const { inTurn } = await import('../config/in-turn.ts');
      try {
        await inTurn(path, async () => {
          if ((await currentText(path)) !== before) throw changedSincePreview();
          await writeWhole(path, after);
        });
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === undefined || error instanceof ApiError) throw error;
        throw new ApiError('conflict', {
          message: `${path} cannot be written (${code}). Nothing was changed.`,
        });
      }
    },
  };
}

export type ConfigFilePort = ReturnType<typeof createConfigFile>;

async function currentText(path: string): Promise<string> {
  const { textOf } = await import('../config/tools.ts');
  try {
    return await textOf(path);
  } catch (error) {
    if (!(error instanceof Error) || !('sentence' in error)) throw error;
    throw new ApiError('conflict', { message: `${path}: ${String(error.sentence)}` });
  }
}

/** Where the file is, and why it cannot be replaced there. */
async function placeOf(path: string): Promise<Pick<PlannedChange, 'linkedTo' | 'refusal'>> {
  const link = await lstat(path).catch(() => undefined);
  const { linkedFile } = await import('../config/set-value.ts');
  const file = await linkedFile(path);
  const linkedTo = link?.isSymbolicLink() === true ? file : null;
  const found = await stat(file).catch(() => undefined);
  const where = linkedTo === null ? path : `${path}, a link to ${file},`;
  const refuse = (why: string) => ({
    linkedTo,
    refusal: `${where} ${why}: change it where it comes from, such as in a ConfigMap or a repository.`,
  });
  // Whoever is root may write what is read-only, too.
  if (found !== undefined && ((found.mode & 0o222) === 0 || !(await isWritable(file))))
    return refuse('is read-only');
  // It is made with the file.
  const hasFolder = (await stat(dirname(file)).catch(() => undefined)) !== undefined;
  if (hasFolder && !(await isWritable(dirname(file)))) return refuse('is in a read-only folder');
  return { linkedTo, refusal: null };
}

async function isWritable(path: string): Promise<boolean> {
  return await access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** What gets the host's keys: where, and which secrets of the environment and the file are sent there. */
function entriesOf(config: Config): HostEntry[] {
  const headerSecrets = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => `${name}: ${value}`);
  const providers = config.providers.map(({ name, baseUrl, headers, ...keys }) => ({
    name,
    kind: name,
    baseUrl: baseUrl ?? providerApis[name].baseUrl,
    environmentKeys: environmentKeysOf(keys),
    headers: headerSecrets(headers.values),
  }));
  const upstreams = config.upstreams.map(({ name, base_url: url, headers, ...keys }) => ({
    name,
    kind: undefined,
    baseUrl: url,
    environmentKeys: environmentKeysOf(keys),
    headers: headerSecrets(headers.values),
  }));
  return [...providers, ...upstreams];
}

function environmentKeysOf({ key, keys, keySource }: Pick<HostKeys, 'key' | 'keys' | 'keySource'>) {
  if (keys !== undefined) return keys.map(({ name, key: one }) => ({ variable: name, key: one }));
  return key === undefined ? [] : [{ variable: keySource.variable ?? 'the environment', key }];
}

function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function invalid(error: unknown, code: 'conflict' | 'invalid_request', start: string): unknown {
  if (!(error instanceof ConfigInvalid)) return error;
  return new ApiError(code, { message: `${start} ${error.message}` });
}
