import { fromHome } from '../../shared/folders.ts';
import { knownProviders, providerFacts } from '../../shared/known-providers.ts';
import { bareValue } from '../../shared/text/bare-value.ts';
import { FileUnreadable, readNamedText } from '../runtime/read-named-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A file whose content stands for a variable. */
export interface SecretFile {
  /** The variable that names the file: `OPENAI_API_KEY_FILE`. */
  variable: string;
  path: string;
  /** What it contains; undefined if that cannot be told. */
  value: string | undefined;
  /** Why it could not be read this time; `value` is what it contained before. */
  problem: string | undefined;
}

const bytesMax = 64 * 1024;
const ending = '_FILE';

/**
 * The environment with the secrets that files contain: for each variable that is to have a secret and is not set, that of the
 * file which `NAME_FILE` names. What was read `before` stays while a file is gone or unreadable.
 */
export async function readSecretFiles(
  env: Environment,
  file: object,
  { home, before }: { home: string; before: readonly SecretFile[] },
): Promise<{ env: Environment; files: SecretFile[] }> {
  const wanted = [...secretVariables(file)].filter(
    (name) => !env[name]?.trim() && env[name + ending]?.trim(),
  );
  if (wanted.length === 0) return { env, files: [] };
  const files = await Promise.all(
    wanted.map(async (name): Promise<SecretFile> => {
      const variable = name + ending;
      const path = fromHome(bareValue(env[variable] ?? ''), home);
      const known = before.find((one) => one.variable === variable && one.path === path)?.value;
      try {
        return { variable, path, value: await secretIn(path), problem: undefined };
      } catch (error) {
        if (!(error instanceof FileUnreadable)) throw error;
        return { variable, path, value: known, problem: error.problem };
      }
    }),
  );
  const values = files.map(({ variable, value }) => [variable.slice(0, -ending.length), value] as const);
  return { env: { ...env, ...Object.fromEntries(values) }, files };
}

/** The file that a variable's value is from, or would be if it could be read. */
export function fileOf(files: readonly SecretFile[], variable: string): SecretFile | undefined {
  return files.find((file) => file.variable === variable + ending);
}

async function secretIn(path: string): Promise<string> {
  const text = (await readNamedText(path, { bytesMax })).trim();
  if (text === '') throw new FileUnreadable(path, 'is empty');
  if (/[\r\n]/.test(text)) throw new FileUnreadable(path, 'has several lines');
  return text;
}

/** The variables that are read as secrets: those of providers, and what the configuration names for one. */
export function secretVariables(file: object): Set<string> {
  const names = new Set<string>(knownProviders.flatMap((name) => providerFacts[name].keyVariables));
  names.add('GATEWAY_WALLET_SECRET');
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [member, value] of Object.entries(node)) {
      const isVariable = member === 'key_env' || member === 'secret_env' || member === 'env';
      for (const name of isVariable ? [value].flat() : []) if (typeof name === 'string') names.add(name);
      collect(value);
    }
  };
  collect(file);
  return names;
}
