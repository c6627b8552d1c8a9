import { FileUnreadable, readNamedText } from '../runtime/read-named-file.ts';
import type { CheckedConfig } from './check-config-text.ts';

const bytesMax = 1024 ** 2;

/** The text of a config file. Fails with `FileUnreadable`. */
export async function readConfigText(path: string): Promise<string> {
  return await readNamedText(path, { bytesMax });
}

/** Reads the config file, if it exists, or the `given` text in its place. The parser is loaded only then: most daemons start without a file. */
export async function readConfigFile(
  path: string,
  { required, given }: { required: boolean; given?: string | undefined },
): Promise<CheckedConfig & { text: string }> {
  let text: string;
  try {
    text = given ?? (await readConfigText(path));
  } catch (error) {
    if (!(error instanceof FileUnreadable)) throw error;
    if (error.isAbsent && !required) return { file: {}, faults: [], removed: [], text: '' };
    return { file: {}, faults: [{ place: path, message: error.sentence }], removed: [], text: '' };
  }
  const { checkConfigText } = await import('./check-config-text.ts');
  return { ...checkConfigText(text, path), text };
}
