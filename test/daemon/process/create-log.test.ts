import { expect, test } from 'vitest';
import { createLog } from '../../../src/daemon/process/create-log.ts';
import { hostSecrets } from '../../../src/shared/masking/known-secrets.ts';

test('a line of the log has no secrets, wherever they come from', () => {
  hostSecrets.add('canary-of-the-log-17');
  let written = '';
  const destination = { write: (text: string) => (written += text), close() {} };
  const log = createLog('trace', { stderr: destination, file: destination });
  const url = 'https://ann:hunter2@host.example/v1/models?api_key=abcdef123';
  log.warn({ err: new Error(`${url} failed: canary-of-the-log-17`) }, 'a call failed');
  log.info({ changed: [{ from: url, to: 'gwk_0123456789abcdefghij' }] }, `reloaded for ${url}`);
  log.trace({ key: 'any', headers: { a: 'any' }, call: { authorization: 'any' } }, 'traced');
  expect(written).toContain('https://[removed]@host.example/v1/models?api_key=[removed] failed: [removed]');
  for (const secret of ['hunter2', 'abcdef123', 'canary-of-the-log', 'gwk_0123', '"any"'])
    expect(written).not.toContain(secret);
  for (const line of written.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
});
