import { graphemesOf, widthOf } from '../../output/width.ts';

/** A long name is cut at its start, with an ellipsis: without it, the end could be the name of another model. */
export function shortName(name: string, width: number): string {
  if (widthOf(name) <= width) return name;
  const last = name.slice(name.lastIndexOf('/'));
  if (last.startsWith('/') && widthOf(last) < width) return `…${last}`;
  const characters = [...graphemesOf(name)];
  let left = widthOf(name);
  let cut = 0;
  while (left >= width && cut < characters.length) {
    left -= widthOf(characters[cut] ?? '');
    cut += 1;
  }
  return `…${characters.slice(cut).join('')}`;
}
