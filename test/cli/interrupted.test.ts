import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { exitCodes } from '../../src/shared/errors.ts';
import { runCli } from '../support/run-cli.ts';
import { fakeDaemon, sendEvents } from './fake-daemon.ts';

const progress = { type: 'backup.progress', done_bytes: 1, total_bytes: 2 };

/** The commands that wait for something to end; Ctrl-C comes when they have asked. */
const waiting: [command: string, endpoint: string, args: string[], begin: (reply: ServerResponse) => void][] =
  [
    ['peer watch', 'GET /v1/workspaces/me/peers', [], () => {}],
    ['compact', 'POST /v1/responses/compact', ['-m', 'sim/slow'], () => {}],
    ['backup', 'POST /v1/admin/backups', [], (reply) => void sendEvents(reply, [progress], { done: false })],
  ];

test.each(waiting)(
  'Ctrl-C ends %s with 130, and cancels the call',
  async (command, endpoint, args, begin) => {
    const ctrlC = new AbortController();
    const left = Promise.withResolvers<void>();
    const { env } = await fakeDaemon({
      [endpoint]: (_call, reply) => {
        reply.on('close', left.resolve);
        begin(reply);
        setImmediate(() => ctrlC.abort(new Error('interrupted')));
        return new Promise(() => {});
      },
    });
    const stdin = '[{"role":"user","content":"Hello."}]';
    const { code, stdout, stderr } = await runCli([...command.split(' '), ...args], {
      env,
      stdin,
      interrupt: ctrlC.signal,
    });
    expect({ code, stdout }).toEqual({ code: exitCodes.interrupted, stdout: '' });
    expect(stderr).toMatch(/^(Cancelled|Interrupted)\b/m);
    expect(stderr).not.toContain('error:');
    await left.promise;
  },
);
