/** Explains a file that cannot be read. */
export function whyNotRead(path: string, { code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `The file ${path} does not exist.`;
  if (code === 'EISDIR') return `${path} is a folder.`;
  return `Cannot read ${path} (${code}).`;
}

/** Explains a file that cannot be written. */
export function whyNotWritten(path: string, { code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `The folder of ${path} does not exist.`;
  if (code === 'EEXIST') return `${path} already exists.`;
  if (code === 'EISDIR') return `${path} is a folder.`;
  return `Cannot write ${path} (${code}).`;
}
