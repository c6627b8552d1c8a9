import { readFile } from 'node:fs/promises';

/** What the daemon's pages need, as text: a page contains its style and script. */
export interface PageAssets {
  style: string;
  referenceScript: string;
  loginScript: string;
}

/** Reads the assets, which are next to the program. */
export async function readPageAssets(): Promise<PageAssets> {
  const read = (name: string) => readFile(new URL(`./${name}`, import.meta.url), 'utf8');
  const names = ['pages.css', 'reference-page.js', 'login-page.js'];
  const [style = '', referenceScript = '', loginScript = ''] = await Promise.all(names.map(read));
  return { style, referenceScript, loginScript };
}
