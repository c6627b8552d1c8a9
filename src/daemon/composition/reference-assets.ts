import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** The style and the script of the reference page, from the files beside the program. */
export async function readReferenceAssets(): Promise<{ style: string; script: string }> {
  const [style, script] = await Promise.all(
    ['reference-page.css', 'reference-page.js'].map((name) =>
      readFile(new URL(`./${name}`, import.meta.url), 'utf8'),
    ),
  );
  return { style: style ?? '', script: script ?? '' };
}

/** As a content security policy names what it allows. */
export const sha256Base64 = (text: string): string => createHash('sha256').update(text).digest('base64');
