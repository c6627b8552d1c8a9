import type { IncomingAnswer } from '../../src/daemon/base/world.ts';

/** An answer of another host, for a fake `send`. */
export function incomingAnswer(
  status: number,
  text: string,
  headers: Record<string, string> = {},
): IncomingAnswer {
  const bytes = Buffer.from(text);
  const body = {
    bytes: async () => bytes,
    cancel: () => {},
    async *[Symbol.asyncIterator]() {
      yield bytes;
    },
  };
  return { status, headers, body };
}
