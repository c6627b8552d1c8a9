import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const run = promisify(execFile);
const guide = await readFile('docs/sdks.md', 'utf8');
const readme = await readFile('README.md', 'utf8');
/** Those whose packages the tests have. */
const programs = [...`${readme}\n${guide}`.matchAll(/```js\n([\s\S]*?)```/g)]
  .map(([, code = '']) => code)
  .filter((code) =>
    [...code.matchAll(/from '(.*)'/g)].every(([, name = '']) =>
      /^(openai|ai|@ai-sdk\/(openai|anthropic)|@anthropic-ai\/sdk)$/.test(name),
    ),
  );

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

test('the guides contain runnable programs', () => {
  expect(programs.length).toBeGreaterThanOrEqual(4);
});

test.each(programs)('runs as printed: %s', async (program) => {
  const code = program.replace('http://127.0.0.1:4100', daemon.url);
  const env = {
    PATH: process.env.PATH,
    OPENAI_BASE_URL: `${daemon.url}/v1`,
    OPENAI_API_KEY: daemon.key,
    ANTHROPIC_BASE_URL: daemon.url,
    ANTHROPIC_API_KEY: daemon.key,
    GATEWAY_KEY: daemon.key,
  };
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', code], { env });
  expect(stdout).toMatch(/You said|simulator/);
  expect(stderr).toBe('');
});
