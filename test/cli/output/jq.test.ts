import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

describe('--jq', () => {
  const describing = () =>
    fakeDaemon({
      'GET /v1/openapi.json': () => ({ openapi: '3.1.0', tags: [{ name: 'keys' }, { name: 'models' }] }),
    });

  test.each([
    ['.openapi', '3.1.0\n'],
    ['.tags[].name', 'keys\nmodels\n'],
    ['.tags | length', '2\n'],
    ['.tags[] | select(.name == "none")', ''],
    ['[.tags[]]', '[{"name":"keys"},{"name":"models"}]\n'],
  ])('%s prints the output of jq', async (expression, printed) => {
    const { env } = await describing();
    const { code, stdout } = await runCli(['openapi', '--jq', expression], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: printed });
  });

  test('that does not compile is reported before any call', async () => {
    const { env, calls } = await describing();
    const { code, stderr } = await runCli(['openapi', '--jq', '.tags['], { env });
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain('--jq does not compile');
    expect(calls).toEqual([]);
  });

  test('that fails on the data exits 1', async () => {
    const { env } = await describing();
    expect((await runCli(['openapi', '--jq', '.openapi.x'], { env })).code).toBe(exitCodes.failed);
  });
});
