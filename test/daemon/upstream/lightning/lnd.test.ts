import { describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../../../src/daemon/features/lightning/bolt11.ts';
import { lnd } from '../../../../src/daemon/upstream/lightning/lnd.ts';
import { lndMacaroon, readOnlyMacaroon, startFakeLnd } from '../../../support/lightning/fake-lnd.ts';
import { fakeRig } from '../../../support/lightning/rig.ts';
import { localhostCertificate } from '../../../support/test-certificate.ts';
import { lightningBackendContract, requestFor } from './lightning-backend.contract.ts';

const trusted = { certificate: localhostCertificate.cert };

async function startRig({ secret = lndMacaroon, options = trusted as { certificate?: string } } = {}) {
  return fakeRig(lnd, { ...(await startFakeLnd()), ...options, secret, takesFeeLimit: true });
}

const never = new AbortController().signal;

describe('LND', () => {
  lightningBackendContract(startRig, { keeps: ['preimage of receipts'] });

  test('trusts the certificate of the file, and no other', async () => {
    const rig = await startRig({ options: {} });
    await expect(rig.start().check(never)).rejects.toMatchObject({
      name: 'BackendFailure',
      kind: 'unreachable',
      message: expect.stringMatching(/certificate is not trusted/),
    });
  });

  test('names the permissions that a macaroon lacks', async () => {
    const rig = await startRig({ secret: readOnlyMacaroon });
    expect((await rig.start().check(never)).problems).toEqual([
      expect.stringMatching(/^The macaroon lacks invoices:write, offchain:write\. Bake one with: lncli/),
    ]);
  });

  test('says that a macaroon is rejected, without it', async () => {
    const rig = await startRig({ secret: '02'.repeat(60) });
    const failure = await rig
      .start()
      .check(never)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'BackendFailure', kind: 'unauthorized' });
    expect(String(failure)).not.toContain('0202');
  });

  test('says that the wallet is locked, and that the chain is not synced', async () => {
    const rig = await startRig();
    rig.node.isSynced = false;
    expect((await rig.start().check(never)).problems).toEqual(['LND is not synced to the chain yet.']);
    rig.node.isLocked = true;
    await expect(rig.start().prepare(never)).rejects.toMatchObject({ kind: 'not-ready' });
  });

  test('does not take a refusal for a failure while a payment is in progress', async () => {
    const rig = await startRig();
    rig.node.next('hold');
    const invoice = await rig.foreignInvoice(25_000);
    const first = rig.start().pay(requestFor(invoice));
    await expect.poll(() => rig.node.asked.length).toBe(1);
    expect(await rig.start().pay(requestFor(invoice))).toEqual({ state: 'pending' });
    rig.node.end(invoice, 'failed');
    expect(await first).toMatchObject({ state: 'failed', reason: 'no_route' });
    expect(await rig.start().pay(requestFor(invoice))).toMatchObject({ state: 'succeeded' });
    expect(await rig.start().pay(requestFor(invoice))).toMatchObject({ state: 'succeeded' });
  });

  test('follows a payment that it sent itself to its end', async () => {
    const rig = await startRig();
    const invoice = await rig.foreignInvoice(25_000);
    rig.node.next('hold');
    void rig.start().pay(requestFor(invoice));
    await expect.poll(() => rig.node.asked.length).toBe(1);
    const lookUp = () => rig.start().lookUpPayment(decodeInvoice(invoice).paymentHash, never);
    expect(await lookUp()).toEqual({ state: 'pending' });
    rig.node.end(invoice, 'failed');
    expect(await lookUp()).toMatchObject({ state: 'failed', reason: 'no_route' });
  });

  test.each([
    ['SUCCEEDED', 'succeeded'],
    ['FAILED', 'failed'],
    ['IN_FLIGHT', 'pending'],
    ['INITIATED', 'pending'],
    ['UNKNOWN', 'pending'],
    ['SETTLED_TWICE', 'pending'],
    ['', 'pending'],
  ])('a payment that is %j at LND is %s', async (status, state) => {
    const rig = await startRig();
    const invoice = await rig.foreignInvoice(25_000);
    if (status === 'FAILED') rig.node.next('fail');
    else if (status !== 'SUCCEEDED') rig.node.reportedState = status;
    const outcome = await rig.start().pay(requestFor(invoice));
    expect(outcome.state).toBe(state);
    const found = await rig.start().lookUpPayment(decodeInvoice(invoice).paymentHash, never);
    expect(found.state).toBe(state);
  });

  test.each([
    ['the file', Buffer.from(lndMacaroon, 'hex')],
    ['hexadecimal', Buffer.from(`${lndMacaroon.toUpperCase()}\n`)],
    ['base64', Buffer.from(Buffer.from(lndMacaroon, 'hex').toString('base64'))],
    ['base64url', Buffer.from(Buffer.from(lndMacaroon, 'hex').toString('base64url'))],
  ])('reads a macaroon from %s', (_form, given) => {
    expect(lnd.parseSecret(given)).toBe(lndMacaroon);
  });

  test('takes nothing else for a macaroon', () => {
    for (const text of ['', 'password', 'ab'.repeat(60), '-----BEGIN CERTIFICATE-----'])
      expect(lnd.parseSecret(Buffer.from(text))).toBeUndefined();
  });
});
