/** The encoding that the first bytes of a text name: UTF-8, or the UTF-16 that `>` of PowerShell writes. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** A text without the mark of its encoding. With `fatal`, fails for bytes that are none. */
export function decodeText(bytes: Uint8Array, options?: { fatal: boolean }): string {
  return new TextDecoder(encodingOf(bytes), options).decode(bytes);
}
