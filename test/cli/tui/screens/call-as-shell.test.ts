import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandIndex } from '../../../../src/cli/manifest/command-index.ts';
import { asCommand, asCurl, shellWord } from '../../../../src/cli/tui/screens/call-as-shell.ts';
import type { LoggedCall } from '../../../../src/cli/tui/services/api-call-log.ts';

function call(method: string, template: string, more: Partial<LoggedCall> = {}): LoggedCall {
  const base = { number: 1, at: 0, outcome: 'ok', tookMs: 1, requestId: null, params: {}, query: {} };
  return { ...base, body: undefined, method, template, path: template, ...more };
}

test('curl has method, body and workspace, and takes the key from the environment', () => {
  const curl = asCurl(call('POST', '/v1/x', { body: { name: "it's" } }), {
    baseUrl: 'http://127.0.0.1:4100/',
    workspace: 'lab',
  });
  expect(curl).toBe(
    `curl -X POST http://127.0.0.1:4100/v1/x -H "authorization: Bearer $GATEWAY_KEY" -H 'x-workspace-id: lab' -H 'content-type: application/json' -d '{"name":"it'\\''s"}'`,
  );
});

test('a shell reads every quoted word back unchanged', () => {
  const word = fc.string({ unit: fc.constantFrom(...`ab'"\\$\`!* ;&|<>()\n~#é`) });
  const words = fc.sample(word, 100);
  const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
  const read = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
  expect(read).toEqual(words);
});

test.each([
  [call('GET', '/v1/traces/{request_id}', { params: { request_id: 'req_1' } }), 'gateway calls show req_1'],
  [call('GET', '/v1/usage', { query: { group_by: 'key' } }), 'gateway usage show --group-by key'],
  [
    call('DELETE', '/v1/workspaces/{workspace}/keys/{key}', { params: { key: 'key_1' } }),
    'gateway keys revoke key_1',
  ],
  [call('GET', '/v1/something/else'), undefined],
])('a call is shown as the command that makes it', (logged, expected) => {
  expect(asCommand(logged, commandIndex)).toBe(expected);
});
