import { expect, test } from 'vitest';
import type { KeyPolicy } from '../../../../src/daemon/base/handler.ts';
import { callerLevel, captureLevel } from '../../../../src/daemon/features/capture/capture-level.ts';
import type { CaptureLevel } from '../../../../src/shared/constants/capture-levels.ts';

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
  [hosts, undefined, 'disk', 'disk'],
  [hosts, 'memory', 'disk', 'memory'],
  [hosts, 'disk', 'memory', 'memory'],
  [others, 'disk', 'disk', 'disk'],
  [others, undefined, 'disk', 'off'],
] as const)('%j with %j on a host with %s: %s', (caller, header, content, kept) => {
  const settings = { content, honoursStoreFalse: false };
  const asked = {
    caller,
    header: header as string | string[] | undefined,
    store: false,
    hostWorkspaceId: 'ws_host',
    workspaceLevel: undefined,
  };
  expect(captureLevel({ ...asked, settings })).toBe(kept);
  expect(captureLevel({ ...asked, settings: { ...settings, honoursStoreFalse: true } })).toBe('off');
});

test('without a workspace of the host, nothing is kept unasked', () => {
  const settings = { content: 'memory', honoursStoreFalse: false } as const;
  const asked = { caller: hosts, header: undefined, store: true, workspaceLevel: undefined };
  expect(captureLevel({ ...asked, settings, hostWorkspaceId: undefined })).toBe('off');
});

test.each([
  // capture.content, of the workspace, of the issuing key, of the key, x-service-capture → what is kept, and why
  ['disk', 'memory', undefined, undefined, undefined, 'memory', 'workspace'],
  ['memory', 'disk', undefined, undefined, undefined, 'memory', 'host'],
  ['off', 'disk', undefined, 'disk', undefined, 'off', 'host'],
  ['disk', undefined, undefined, 'memory', undefined, 'memory', 'key'],
  ['disk', 'memory', undefined, 'disk', undefined, 'memory', 'workspace'],
  ['disk', 'off', undefined, 'disk', 'disk', 'off', 'workspace'],
  ['disk', undefined, 'off', 'disk', 'disk', 'off', 'key'],
  ['disk', undefined, undefined, 'off', 'memory', 'off', 'key'],
  ['disk', undefined, undefined, 'disk', 'off', 'off', 'key'],
  ['disk', undefined, undefined, 'disk', 'memory', 'memory', 'key'],
] as const)(
  'host %s, workspace %s, issuing key %s, key %s, request %s: %s by the %s',
  (content, workspaceLevel, parent, key, header, kept, source) => {
    const policyWith = (capture: CaptureLevel | undefined, above?: KeyPolicy) =>
      ({ parent: above, defaults: capture === undefined ? null : { capture } }) as KeyPolicy;
    for (const workspaceId of ['ws_host', 'ws_other']) {
      const caller = { kind: 'key' as const, workspaceId, policy: policyWith(key, policyWith(parent)) };
      const settings = { content, honoursStoreFalse: false };
      const about = { caller, settings, hostWorkspaceId: 'ws_host', workspaceLevel };
      expect(captureLevel({ ...about, header, store: true })).toBe(kept);
      expect(callerLevel(about).source).toBe(source);
    }
  },
);
