import { expect, test } from 'vitest';
import { captureLevel } from '../../../../src/daemon/features/capture/capture-level.ts';

const hosts = { kind: 'key', workspaceId: 'ws_host' } as const;
const others = { kind: 'key', workspaceId: 'ws_other' } as const;
const agent = { kind: 'agent', workspaceId: 'ws_agent' } as const;
const ownLogin = { kind: 'login', workspaceId: 'ws_host' } as const;

test.each([
  // caller, x-service-capture, capture.content → what is kept
  [hosts, undefined, 'memory', 'memory'],
  [ownLogin, undefined, 'memory', 'memory'],
  [hosts, 'off', 'memory', 'off'],
  [hosts, 'memory', 'off', 'off'],
  [hosts, 'nonsense', 'memory', 'off'],
  [hosts, ['memory', 'off'], 'memory', 'off'],
  [others, undefined, 'memory', 'off'],
  [others, 'memory', 'memory', 'memory'],
  [others, 'memory', 'off', 'off'],
  [agent, undefined, 'memory', 'off'],
  [agent, 'memory', 'memory', 'memory'],
] as const)('%j with %j on a host with %s: %s', (caller, header, content, kept) => {
  const settings = { content, honoursStoreFalse: false };
  const asked = { caller, header: header as string | string[] | undefined, store: false };
  expect(captureLevel(asked, settings, 'ws_host')).toBe(kept);
  expect(captureLevel(asked, { ...settings, honoursStoreFalse: true }, 'ws_host')).toBe('off');
});

test('without a workspace of the host, nothing is kept unasked', () => {
  const settings = { content: 'memory', honoursStoreFalse: false } as const;
  expect(captureLevel({ caller: hosts, header: undefined, store: true }, settings, undefined)).toBe('off');
});
