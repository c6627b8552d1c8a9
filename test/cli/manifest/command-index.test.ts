import { expect, test } from 'vitest';
import type { Context, RecordedCall } from '../../../src/cli/context.ts';
import { buildCommand } from '../../../src/cli/manifest/build-program.ts';
import { commandIndex } from '../../../src/cli/manifest/command-index.ts';
import { allCommands } from '../../../src/cli/manifest/manifest.ts';

const context = {
  io: { stdout: { write: () => true }, stderr: { write: () => true }, columns: () => 80 },
  env: {},
} as unknown as Context;

function call(method: string, template: string, more: Partial<RecordedCall> = {}): RecordedCall {
  return { method, template, params: {}, query: {}, body: undefined, ...more };
}

test.each([
  ['/v1/workspaces/{workspace}/keys/{key}/limits', 'gateway keys list'],
  ['/v1/workspaces/{workspace}/members/{user}', 'gateway workspaces members'],
  ['/v1/workspaces/{workspace}/members', 'gateway workspaces list'],
  ['/v1/admin/users/{user}/login-codes', 'gateway users list'],
  ['/v1/admin/credit', 'gateway credit show'],
  ['/v1/threads/{id}/messages', 'gateway threads list'],
  ['/v1/responses/{id}', 'gateway responses list'],
  ['/v1/usage/{request_id}', 'gateway calls list'],
  ['/v1/traces/{request_id}', 'gateway calls list'],
  ['/api/chats/{conversationId}/runs', 'gateway chats list'],
  ['/api/whispers/{id}/read', 'gateway whispers list'],
  ['/api/whispers', undefined],
  ['/v1/key', undefined],
])('after a 404 of %s, the suggestion is %s', (path, command) => {
  expect(commandIndex.listCommand(path)).toBe(command);
});

test.each<[RecordedCall, string | undefined]>([
  [call('GET', '/v1/traces', { query: { limit: 20, after: 'x' } }), 'gateway calls list --limit 20'],
  [call('GET', '/api/whispers', { query: { with: 'ann' } }), 'gateway whispers list --with ann'],
  [
    call('GET', '/v1/workspaces/{workspace}/keys/{key}', { params: { workspace: 'lab', key: 'key_1' } }),
    'gateway keys show --workspace lab key_1',
  ],
  [
    call('GET', '/v1/workspaces/{workspace}/members', { params: { workspace: 'lab' } }),
    'gateway workspaces members lab',
  ],
  [
    call('POST', '/v1/workspaces/{workspace}/keys', { params: { workspace: 'me' }, body: { name: 'ci' } }),
    'gateway keys issue --name ci',
  ],
  // A command that could not say all of the body would make another call.
  [call('POST', '/v1/workspaces/{workspace}/keys', { body: { limits: {} } }), undefined],
  [call('GET', '/v1/openapi.yaml'), undefined],
])('a call can be repeated as a command', (recorded, line) => {
  expect(commandIndex.commandLine(recorded)?.join(' ')).toBe(line);
});

test('every option that repeats a call exists', async () => {
  for (const { words, entry } of allCommands) {
    const { options } = await buildCommand(entry, context);
    for (const name of entry.options ?? []) {
      const flag = `--${name.replaceAll('_', '-')}`;
      expect(
        options.map(({ long }) => long),
        words.join(' '),
      ).toContain(flag);
    }
  }
});

test('every completed placeholder occurs in a help text, and has one source', async () => {
  const built = await Promise.all(allCommands.map(({ entry }) => buildCommand(entry, context)));
  const placeholders = built.flatMap(({ options, registeredArguments }) => [
    ...options.map(({ flags }) => /[<[]([\w-]+)/.exec(flags)?.[1]),
    ...registeredArguments.map((argument) => argument.name()),
  ]);
  const completed = allCommands.flatMap(({ entry }) => entry.lists?.completes ?? []);
  expect(placeholders).toEqual(expect.arrayContaining(completed));
  expect(new Set(completed).size).toBe(completed.length);
});
