import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { formatChallenge } from '../../../src/shared/payments/payment-scheme.ts';
import { programs } from '../../support/programs.ts';
import { missingTmux, startTmux } from '../../support/tmux.ts';
import { type Answer, fail, fakeDaemon } from '../fake-daemon.ts';

const whyNot = missingTmux();
if (whyNot) process.stderr.write(`skipping the tests in a terminal: ${whyNot}\n`);

describe.skipIf(whyNot !== undefined)('in a real terminal', () => {
  /** Runs a command in a shell, with a daemon that gives these answers. */
  async function open(command: string, answers: Record<string, Answer>) {
    const { cli } = await programs();
    const { home, calls } = await fakeDaemon(answers);
    const tmux = await startTmux({ columns: 100, rows: 24, env: { GATEWAY_HOME: home } });
    onTestFinished(tmux.end);
    await tmux.shows(/^\$/m);
    await tmux.text(`clear; ${process.execPath} ${cli} ${command}; echo "ended with $?"`);
    await tmux.keys('Enter');
    return { ...tmux, calls };
  }

  /** An answer that is given once its caller can have typed something. */
  function delayed(answer: Answer) {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    return {
      asked: asked.promise,
      release: () => released.resolve(),
      async answer(...call: Parameters<Answer>) {
        asked.resolve();
        await released.promise;
        return await answer(...call);
      },
    };
  }

  test('what was typed before a question does not answer it', async () => {
    const thread = delayed(() => ({ id: 'th_1', title: 'One' }));
    const { text, keys, shows, calls } = await open(`threads delete th_${'0'.repeat(26)}`, {
      [`GET /v1/threads/th_${'0'.repeat(26)}`]: thread.answer,
    });
    await thread.asked;
    await text('y');
    await keys('Enter');
    await text('yes');
    await shows(/^y\nyes$/m);
    thread.release();
    await shows(/\[y\/N\]/);
    await keys('Enter');
    await shows(/Cancelled; nothing was changed\.\nended with 1/);
    expect(calls.map(({ method }) => method)).toEqual(['GET']);
  });

  test.each([
    ['chat', 'chat --model sim/echo --thread th_1', 'Hello', /^› Hello$/m],
    ['the TUI', 'tui', ':quit', /^ended with 0$/m],
  ])(
    'what was typed before %s is shown is typed into it, with Enter',
    async (_what, command, line, shown) => {
      const first = delayed(() => ({ id: 'th_1', title: 'One' }));
      const { text, keys, shows } = await open(command, {
        'GET /v1/threads/th_1': first.answer,
        'GET /v1/key': first.answer,
        'GET /v1/threads/th_1/messages': () => ({ object: 'list', data: [], has_more: false, next: null }),
      });
      await first.asked;
      await text(line);
      await keys('Enter');
      await shows(new RegExp(`^${line}\n`, 'm'));
      first.release();
      await shows(shown);
    },
  );

  const charge = { amount: '2', currency: 'sat', methodDetails: { invoice: 'lnbcrt1' } };
  const challenge = formatChallenge({
    id: '1',
    realm: 'gateway',
    method: 'lightning',
    intent: 'charge',
    request: Buffer.from(JSON.stringify(charge)).toString('base64url'),
  });
  const payFirst = (_call: unknown, reply: ServerResponse) => {
    reply.setHeader('www-authenticate', challenge);
    return fail(reply, 402, { code: 'payment_required', message: 'Pay first.' });
  };

  test.each([
    ['a question of a command that has called the daemon', 'respond -m sim/echo --pay -- Hi', /\[y\/N\]/],
    ['a question', 'tokens revoke --all', /\[y\/N\]/],
    ['a prompt for a secret', 'provider-keys set openai', /^Key for openai:/m],
  ])('Ctrl-C ends %s', async (_what, command, asks) => {
    const { text, keys, shows } = await open(command, { 'POST /v1/responses': payFirst });
    await shows(asks);
    await keys('C-c');
    // A command that ends by the signal ends the list of commands, too.
    await shows(/(Interrupted\.\nended with 130\n|\n)\$\s*$/);
    await text('echo typed');
    await keys('Enter');
    await shows(/^typed$/m);
  });

  test('Ctrl-Z stops at a prompt for a secret, and fg asks again', async () => {
    const { text, keys, shows } = await open('provider-keys set openai', {});
    await shows(/^Key for openai:/m);
    await text('sec');
    await keys('C-z');
    await shows(/Stopped/);
    await text('clear');
    await keys('Enter');
    await shows(/^\$\s*$/);
    await text('fg');
    await keys('Enter');
    await shows(/^Key for openai:/m);
    await keys('Enter');
    await shows(/No value was given/);
  });
});
