import { readFile } from 'node:fs/promises';

/** Reads the style and the script of the reference page, which are next to the program. */
export async function readReferenceAssets(): Promise<{ style: string; script: string }> {
  const read = (name: string) => readFile(new URL(`./${name}`, import.meta.url), 'utf8');
  const [style, script] = await Promise.all([read('reference-page.css'), read('reference-page.js')]);
  return { style, script };
}
