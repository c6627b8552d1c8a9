import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readPiped, withoutStdin } from '../../src/cli/terminal/piped-input.ts';
import { decodeText } from '../../src/shared/text/decode-text.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What programs, shells and editors pipe into commands, or do not. */

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon({});
});
afterAll(() => daemon.stop());

const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();

const written: [what: string, bytes: Buffer][] = [
  ['UTF-8', Buffer.from('Grüße 天気')],
  [
    'the mark of an editor (microsoft/playwright-cli#274, git-ai-project/git-ai#653)',
    Buffer.from('\ufeffGrüße 天気'),
  ],
  ['> of PowerShell (openclaw/openclaw#133130)', Buffer.from('\ufeffGrüße 天気', 'utf16le')],
  ['the other UTF-16 (openclaw/openclaw-windows-node#1224)', swapped('\ufeffGrüße 天気')],
];

describe('a text as it is written by', () => {
  test.each(written)('%s is read', async (_what, bytes) => {
    expect(decodeText(bytes)).toBe('Grüße 天気');
    const folder = await mkdtemp(join(tmpdir(), 'gateway-piped-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'notes.txt');
    await writeFile(file, bytes);
    const ask = (...more: string[]) =>
      runCli(['respond', '--model', 'sim/echo', '-f', file, ...more], { env: { GATEWAY_HOME: daemon.home } });
    expect((await ask('--no-stdin')).stdout).toBe('notes.txt:\n\nGrüße 天気\n');
  });

  test('bytes that are no text are still none', async () => {
    for (const bytes of [Buffer.of(0xff, 0xfe, 0, 0xd8), Buffer.from('a\0b'), Buffer.of(0xe9)]) {
      const folder = await mkdtemp(join(tmpdir(), 'gateway-piped-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      await writeFile(join(folder, 'data'), bytes);
      const { code, stderr } = await runCli(['respond', '-f', join(folder, 'data'), '--no-stdin'], {
        env: { GATEWAY_HOME: daemon.home },
      });
      expect([code, stderr]).toEqual([2, expect.stringContaining('is neither text')]);
    }
  });
});

// openai/codex#27019, earendil-works/pi#5571, expo/eas-cli#4261, garrytan/gbrain#3546, cline/cline#9073,
// DeusData/codebase-memory-mcp#1359: what starts a command leaves it a pipe that nobody writes to and nobody closes.
test('a command that waits for a pipe says so, and how to do without it', async () => {
  const notes: string[] = [];
  const pipe = Promise.withResolvers<Uint8Array>();
  const waited: number[] = [];
  const context = {
    io: { stdin: { read: () => pipe.promise } },
    out: { note: (text: string) => notes.push(text) },
    sleep: async (ms: number) => void waited.push(ms),
  };
  const reading = readPiped(context as never, withoutStdin);
  await expect
    .poll(() => notes)
    .toEqual(['Waiting for the end of standard input. If nothing is piped in, add --no-stdin.']);
  expect(waited).toEqual([3000]);
  pipe.resolve(Buffer.from('late'));
  expect(Buffer.from(await reading).toString()).toBe('late');
});

test('a pipe that ends soon is read without a word', async () => {
  const notes: string[] = [];
  const sleeping = Promise.withResolvers<void>();
  const context = {
    io: { stdin: { read: async () => Buffer.from('soon') } },
    out: { note: (text: string) => notes.push(text) },
    sleep: () => sleeping.promise,
  };
  expect(Buffer.from(await readPiped(context as never, withoutStdin)).toString()).toBe('soon');
  sleeping.resolve();
  await sleeping.promise;
  expect(notes).toEqual([]);
});
