import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Writer } from '../../../src/cli/io.ts';
import { guardedIo, guardText } from '../../../src/cli/output/guarded-io.ts';
import { painter } from '../../../src/cli/output/style.ts';
import { styleCode } from '../../../src/cli/output/width.ts';

const obeyed = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;
const control = fc.constantFrom(
  ...Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)),
  '\u202e',
);
const foreign = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.oneof(control, fc.constantFrom('\u001b]0;', '\u001b[2J', '\u001b[1;1H', '\u001bP', '\u009d0;')),
      {
        maxLength: 20,
      },
    )
    .map((parts) => parts.join('')),
);

/** Streams that keep what is written to them. */
function place(isTty: boolean) {
  const written: (string | Uint8Array)[] = [];
  const writer: Writer = { isTty, write: (data) => written.push(data) };
  const io = guardedIo({
    stdout: writer,
    stderr: writer,
    stdin: {
      isTty,
      read: async () => new Uint8Array(),
      readLine: async ({ prompt }) => prompt,
      readHidden: async (prompt) => prompt,
      async *lines() {},
    },
    lasting: () => ({ stdout: writer, stderr: writer, close: async () => {} }),
    columns: () => 80,
    rows: () => 24,
  });
  return { io, written };
}

test('of any text nothing is left that a terminal obeys but styles, as text and as bytes', async () => {
  await fc.assert(
    fc.asyncProperty(foreign, async (text) => {
      const { io, written } = place(true);
      for (const { write } of [io.stdout, io.stderr, io.lasting().stdout, io.lasting().stderr]) {
        write(text);
        write(Buffer.from(text));
      }
      written.push(
        (await io.stdin.readLine({ prompt: text })) ?? '',
        (await io.stdin.readHidden(text)) ?? '',
      );
      for (const shown of written) expect(String(shown).replace(styleCode, '')).not.toMatch(obeyed);
    }),
  );
});

test('what is piped keeps its bytes, and messages do not control the terminal that shows them later', () => {
  fc.assert(
    fc.property(foreign, (text) => {
      const { io, written } = place(false);
      io.stdout.write(text);
      io.stderr.write(text);
      expect(written[0]).toBe(text);
      expect(String(written[1]).replace(styleCode, '')).not.toMatch(obeyed);
    }),
  );
});

test('what commands draw themselves passes', () => {
  const paint = painter(true);
  for (const drawn of [
    '\r\u001b[2K⠋ Waiting',
    '\u001b[3A\r\u001b[Jx',
    '\r\u001b[Jx',
    '\u001b[H\u001b[J',
    'a\n\tb',
    paint('red', 'x'),
  ])
    expect(guardText(drawn)).toBe(drawn);
  expect(guardText('a\r\nb\rc')).toBe('a\nb␍c');
});
