import { readFile } from 'node:fs/promises';
import type { CheckedConfig } from './check-config-text.ts';

/** Reads the config file, if it exists, or the `given` text in its place. The parser is loaded only then: most daemons start without a file. */
export async function readConfigFile(
  path: string,
  { required, given }: { required: boolean; given?: string | undefined },
): Promise<CheckedConfig & { text: string }> {
  let text: string;
  try {
    text = given ?? (await readFile(path, 'utf8'));
  } catch (error) {
    const absent = /^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '');
    if (absent && !required) return { file: {}, faults: [], removed: [], text: '' };
    return {
      file: {},
      faults: [{ place: path, message: absent ? 'There is no such file.' : 'It cannot be read.' }],
      removed: [],
      text: '',
    };
  }
  const { checkConfigText } = await import('./check-config-text.ts');
  return { ...checkConfigText(text, path), text };
}
