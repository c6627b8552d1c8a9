import { readdirSync, statSync } from 'node:fs';
import { fromHome } from '../../../shared/folders.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';
import { type Attachment, readAttachments } from '../../commands/respond/attachment.ts';

/** `@notes.md` or `@"my notes.md"`, after a blank or at the start. */
const mention = /(?<=^|\s)@(?:"([^"\n]+)"|(\S+))/g;
const unfinishedMention = /(?<=^|\s)@(?:"([^"\n]*)|([^\s"]*))$/;
const suggestionsMax = 6;

/**
 * Reads the files that a prompt mentions. What names no file, such as `@ann` or `@/components`, stays text; but a quoted or
 * relative path that does not exist fails.
 */
export function mentionedFiles(text: string, home: string): Attachment[] {
  const paths = [...text.matchAll(mention)].flatMap(([, quoted, word]) => {
    // A sentence may go on after the name.
    const names = quoted === undefined ? [word ?? '', trimEnd(word ?? '', '.,;:!?)')] : [quoted];
    const found = names.map((name) => fromHome(name, home)).find(isFile);
    const isMeantAsPath = quoted !== undefined || /^(\.{1,2}|~)\//.test(word ?? '');
    return found ?? (isMeantAsPath ? fromHome(names.at(-1) ?? '', home) : []);
  });
  return readAttachments([...new Set(paths)]);
}

/** The file that `/attach` names. */
export function attachedFile(path: string, home: string): Attachment[] {
  return readAttachments([fromHome(path.replace(/^"(.*)"$/, '$1'), home)]);
}

/** Completes the path after `/attach` or `@` at the end of a prompt. */
export function pathSuggestions(text: string, home: string): { line: string; summary: string }[] {
  const command = /^(\/attach +)((?:[^ \n].*)?)$/.exec(text);
  if (command) {
    const [, before = '', part = ''] = command;
    return pathsLike(part, home).map((path) => ({ line: before + path, summary: path }));
  }
  const found = unfinishedMention.exec(text);
  if (!found) return [];
  const part = found[1] ?? found[2] ?? '';
  return pathsLike(part, home).map((path) => ({
    line: `${text.slice(0, found.index)}@${/\s/.test(path) ? `"${path}${path.endsWith('/') ? '' : '"'}` : path}`,
    summary: path,
  }));
}

/** Paths that start with `part`; folders end with a slash. Hidden files only if it names them. */
function pathsLike(part: string, home: string): string[] {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const start = part.slice(folder.length);
  try {
    return readdirSync(fromHome(folder === '' ? '.' : folder, home), { withFileTypes: true })
      .filter(({ name }) => name.startsWith(start) && (start !== '' || !name.startsWith('.')))
      .map((entry) => folder + entry.name + (entry.isDirectory() ? '/' : ''))
      .filter((path) => path !== part)
      .sort()
      .slice(0, suggestionsMax);
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
