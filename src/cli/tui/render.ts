import { type Instance, render as inkRender, type RenderOptions } from 'ink';
import type { ReactNode } from 'react';

/**
 * Ink's `render`, in raw mode from the first frame: Ink turns it on after that frame, and until then the terminal changes
 * Enter into a line feed, which is Ctrl-J.
 */
export function render(node: ReactNode, options: RenderOptions): Instance {
  const stdin = options.stdin ?? process.stdin;
  if ('setRawMode' in stdin && stdin.isTTY) stdin.setRawMode(true);
  return inkRender(node, options);
}
