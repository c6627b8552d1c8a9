import type { Decoder } from '../../adapter.ts';
import { parseObject } from '../../answer-bodies.ts';
import { errorIn, streamFailure } from './failure.ts';

const tailBytes = 16 * 1024;

/**
 * An overloaded provider may break a stream off with its error as plain JSON, which is no event. Where a stream turns
 * out to be cut, the error at its end tells the better reason.
 */
export function errorAtTheEnd(provider: string, decoder: Decoder): Decoder {
  let chunks: Uint8Array[] = [];
  let length = 0;
  return {
    get isComplete() {
      return decoder.isComplete ?? false;
    },
    get hasFinished() {
      return decoder.hasFinished ?? false;
    },
    get failure() {
      return decoder.failure;
    },
    push(bytes) {
      chunks.push(bytes);
      length += bytes.length;
      for (let first = chunks[0]; first && length - first.length >= tailBytes; first = chunks[0]) {
        length -= first.length;
        chunks.shift();
      }
      return decoder.push(bytes);
    },
    end() {
      try {
        return decoder.end();
      } catch (cut) {
        const tail = Buffer.concat(chunks).toString('utf8').replaceAll('\r\n', '\n');
        chunks = [];
        const error = errorIn(parseObject(tail.slice(tail.lastIndexOf('\n\n') + 1)));
        throw error ? streamFailure(provider, error) : cut;
      }
    },
  };
}
