import { SseReader } from '../../../src/shared/http/sse.ts';
import type { CountedWork } from '../../support/counted-thread.ts';

const reading = (text: string) => {
  const reader = new SseReader();
  const bytes = new TextEncoder().encode(text);
  return () => reader.push(bytes).length;
};

export const works: Record<string, CountedWork> = {
  'lines that end in CR': (size) => reading(`${':\r'.repeat(size)}data: a\r\r`),
  'lines that end in CR, and one in LF': (size) => reading(`${':\r'.repeat(size)}data: a\n\n`),
  'lines that end in LF, and one in CR': (size) => reading(`${':\n'.repeat(size)}data: a\r\r`),
};
