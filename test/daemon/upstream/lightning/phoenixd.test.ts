import { describe, expect, test } from 'vitest';
import { phoenixd } from '../../../../src/daemon/upstream/lightning/phoenixd.ts';
import { phoenixdPassword, startFakePhoenixd } from '../../../support/lightning/fake-phoenixd.ts';
import { fakeRig } from '../../../support/lightning/rig.ts';
import { lightningBackendContract, requestFor } from './lightning-backend.contract.ts';

async function startRig({ secret = phoenixdPassword } = {}) {
  return fakeRig(phoenixd, { ...(await startFakePhoenixd()), secret, takesFeeLimit: false });
}

const never = new AbortController().signal;

describe('phoenixd', () => {
  lightningBackendContract(startRig, { keeps: ['mark of receipts'] });

  test.each([
    ['hunter2hunter2', 'hunter2hunter2'],
    ['hunter2hunter2\n', 'hunter2hunter2'],
    [
      'http-password-limited-access=limited-1\nhttp-password=hunter2hunter2\nwebhook-secret=x\n',
      'hunter2hunter2',
    ],
    ['two words', undefined],
    ['', undefined],
  ])('reads its password from %j', (given, read) => {
    expect(phoenixd.parseSecret(Buffer.from(given))).toBe(read);
  });

  test.each([['a wrong password', 'wrong-password', /rejects the password/]])(
    'rejects %s',
    async (_what, secret, message) => {
      const rig = await startRig({ secret });
      await expect(rig.start().check(never)).rejects.toMatchObject({
        name: 'BackendFailure',
        kind: 'unauthorized',
        message: expect.stringMatching(message),
      });
    },
  );

  test('tells that a password cannot pay, and fails payments with it', async () => {
    const rig = await startRig({ secret: 'phoenixd-limited-canary' });
    const backend = rig.start();
    expect((await backend.check(never)).problems).toEqual([expect.stringContaining('limited access')]);
    const invoice = await rig.foreignInvoice(25_000);
    expect(await backend.pay(requestFor(invoice))).toEqual({ state: 'failed', reason: 'rejected' });
    expect(rig.node.asked).toEqual([]);
  });

  test('does not take a refusal for a failure while a payment is in progress', async () => {
    const rig = await startRig();
    rig.node.next('hold');
    const invoice = await rig.foreignInvoice(25_000);
    const first = rig.start().pay(requestFor(invoice));
    await expect.poll(() => rig.node.asked.length).toBe(1);
    expect(await rig.start().pay(requestFor(invoice))).toEqual({ state: 'pending' });
    rig.node.end(invoice, 'succeeded');
    expect(await first).toMatchObject({ state: 'succeeded', feeMsat: 1000 });
    expect(await rig.start().pay(requestFor(invoice))).toMatchObject({ state: 'succeeded' });
  });
});
