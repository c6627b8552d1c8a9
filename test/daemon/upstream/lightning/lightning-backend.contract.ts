import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../../../src/daemon/features/lightning/bolt11.ts';
import type { LightningBackend, PaymentRequest } from '../../../../src/daemon/features/lightning/index.ts';
import { withTrustedNode } from '../../../../src/daemon/features/wallet/index.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

/** A back end under test, and the other side: the node, and another one that pays it and is paid. */
export interface BackendRig {
  /** A new adapter for the same node, as a daemon that starts now has it. */
  start(): LightningBackend;
  /** An adapter for the same address, where another node answers. */
  startOther(): LightningBackend;
  /** An invoice of the other node. */
  foreignInvoice(amountMsat: number): Promise<string>;
  /** The other node pays an invoice; rejects if it cannot. */
  payFromOutside(invoice: string): Promise<void>;
  /** What only a node that is told to misbehave can do; undefined for a real one. */
  faults?: BackendFaults;
  /** Stops the node. */
  stop?(): Promise<void>;
}

export interface BackendFaults {
  /** What happens to the next payment. `vanish`: it succeeds, but the answer is lost. */
  next(fate: 'fail' | 'hold' | 'vanish'): void;
  /** Ends a payment that is held. */
  end(invoice: string, state: 'succeeded' | 'failed'): Promise<void> | void;
  /** Makes the node report a state that its documentation does not have. */
  reportUnknownState(): void;
  /** The fee of all payments. */
  setFee(feeMsat: number): void;
  /** Whether the back end takes a fee limit. */
  takesFeeLimit: boolean;
  /** How often it was asked to pay. */
  asked(): number;
}

/** How the node's history says whose a receipt or a payment is. */
type Kept = 'mark of receipts' | 'mark of payments' | 'preimage of receipts';

const never = new AbortController().signal;
const amountMsat = 25_000;

export function requestFor(invoice: string, changes: Partial<PaymentRequest> = {}): PaymentRequest {
  const { paymentHash } = decodeInvoice(invoice);
  return {
    invoice,
    paymentHash,
    amountMsat,
    maxFeeMsat: 10_000,
    idempotencyKey: `pay_${paymentHash}`,
    signal: never,
    ...changes,
  };
}

/**
 * What every Lightning back end does, for fakes and real nodes alike. `start` makes a rig for one test, which closes it
 * when the test ends.
 */
export function lightningBackendContract(
  startRig: () => Promise<BackendRig>,
  { isFake = true, keeps = [] }: { isFake?: boolean; keeps?: readonly Kept[] } = {},
): void {
  const provenBy = (invoice: string, preimage: Uint8Array) =>
    expect(createHash('sha256').update(preimage).digest('hex')).toBe(decodeInvoice(invoice).paymentHash);

  test('says which node it is, on which network, and what is wrong with it', async () => {
    const backend = (await startRig()).start();
    const info = await backend.check(never);
    expect(info.problems).toEqual([]);
    if (info.network !== null) expect(info.network).toBe(backend.network);
    if (info.balanceMsat !== null) expect(info.balanceMsat).toBeGreaterThanOrEqual(0);
    await backend.prepare(never);
  });

  test('issues an invoice, and says what was received for it, also after a restart', async () => {
    const rig = await startRig();
    const backend = rig.start();
    const request = { walletId: 'wal_1', amountMsat, description: 'Zwei Kaffee ☕', expirySeconds: 600 };
    const { invoice, preimage } = await backend.createInvoice(request);
    const decoded = decodeInvoice(invoice);
    expect(decoded).toMatchObject({ amountMsat, network: backend.network, description: 'Zwei Kaffee ☕' });
    expect(decoded.expirySeconds).toBe(600);
    if (preimage) provenBy(invoice, preimage);
    expect(await backend.lookUpInvoice(decoded.paymentHash, never)).toBeUndefined();
    await rig.payFromOutside(invoice);
    await expect
      .poll(() => rig.start().lookUpInvoice(decoded.paymentHash, never))
      .toEqual({ receivedMsat: amountMsat });
  });

  test('is only used while the same node answers', async () => {
    const rig = await startRig();
    let nodeId: string | undefined;
    const deps = {
      store: {
        trustedNode: async () => nodeId,
        trustNode: async (first: { nodeId: string }) => {
          nodeId = first.nodeId;
          return true;
        },
      },
      world: fakeWorld(),
    };
    const trusted = withTrustedNode(rig.start(), deps);
    await trusted.prepare(never);
    expect(nodeId).toMatch(/^0[23][0-9a-f]{64}$/);
    await trusted.check(never);
    const hash = 'ab'.repeat(32);
    const request = { walletId: 'wal_1', amountMsat, description: 'Tea', expirySeconds: 600 };
    const other = withTrustedNode(rig.startOther(), deps);
    const attempts = [
      () => other.check(never),
      () => other.prepare(never),
      () => other.createInvoice(request),
      () => other.lookUpInvoice(hash, never),
      () => other.lookUpPayment(hash, never),
      () => other.history?.(0, never),
      ...(other.cancelInvoice ? [() => other.cancelInvoice?.(hash, never)] : []),
      ...(other.revealPreimage ? [() => other.revealPreimage?.(hash, never)] : []),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ kind: 'other-node' });
  });

  test('has received nothing for an invoice that it does not know', async () => {
    const backend = (await startRig()).start();
    expect(await backend.lookUpInvoice('ab'.repeat(32), never)).toBeUndefined();
  });

  test('pays an invoice once, and remembers it after a restart', async () => {
    const rig = await startRig();
    const invoice = await rig.foreignInvoice(amountMsat);
    const request = requestFor(invoice);
    const paid = await rig.start().pay(request);
    if (paid.state !== 'succeeded') throw new Error(`the payment is ${paid.state}`);
    provenBy(invoice, paid.preimage);
    expect(paid.feeMsat).toBeGreaterThanOrEqual(0);
    expect(paid.feeMsat).toBeLessThanOrEqual(request.maxFeeMsat);
    expect(await rig.start().lookUpPayment(request.paymentHash, never)).toEqual(paid);
    // A repetition either returns the payment or leaves its state open, but is never a new payment nor a failure.
    expect((await rig.start().pay(request)).state).not.toBe('failed');
  });

  test('has no record of a payment that was never sent', async () => {
    const backend = (await startRig()).start();
    expect(await backend.lookUpPayment('ab'.repeat(32), never)).toEqual({
      state: 'pending',
      isUnknown: true,
    });
  });

  test('fails a payment that the node refuses', async () => {
    const rig = await startRig();
    // No channel is that large, and fakes do not pay themselves.
    const invoice =
      rig.faults === undefined
        ? await rig.foreignInvoice(90_000_000_000)
        : (
            await rig.start().createInvoice({
              walletId: 'wal_1',
              amountMsat,
              description: '',
              expirySeconds: 600,
            })
          ).invoice;
    const outcome = await rig.start().pay(requestFor(invoice));
    expect(outcome).toMatchObject({ state: 'failed', reason: expect.any(String) });
  });

  const skipReason = isFake ? '' : ' (skipped: only a fake node fails when asked to)';

  test.skipIf(!isFake)(
    `reports a failure with the time at which the attempt started${skipReason}`,
    async () => {
      const rig = await startRig();
      const before = Math.floor(Date.now() / 1000) * 1000;
      rig.faults?.next('fail');
      const invoice = await rig.foreignInvoice(amountMsat);
      await rig.start().pay(requestFor(invoice));
      const outcome = await rig.start().lookUpPayment(decodeInvoice(invoice).paymentHash, never);
      if (outcome.state !== 'failed') throw new Error(`the payment is ${outcome.state}`);
      expect(outcome.startedAt).toBeGreaterThanOrEqual(before);
    },
  );

  describe.skipIf(!isFake)(`a payment whose end is not known${skipReason}`, () => {
    test('is pending while the node tries, and succeeds later', async () => {
      const rig = await startRig();
      rig.faults?.next('hold');
      const invoice = await rig.foreignInvoice(amountMsat);
      const leaving = new AbortController();
      const paying = rig.start().pay(requestFor(invoice, { signal: leaving.signal }));
      await expect.poll(() => rig.faults?.asked()).toBe(1);
      const lookUp = () => rig.start().lookUpPayment(decodeInvoice(invoice).paymentHash, never);
      await expect.poll(lookUp).toEqual({ state: 'pending' });
      // The daemon stops; the payment goes on.
      leaving.abort();
      expect(await paying.catch(() => ({ state: 'pending' }))).toEqual({ state: 'pending' });
      await rig.faults?.end(invoice, 'succeeded');
      await expect.poll(async () => (await lookUp()).state).toBe('succeeded');
    });

    test('is pending when the answer is lost, and is not sent again', async () => {
      const rig = await startRig();
      rig.faults?.next('vanish');
      const invoice = await rig.foreignInvoice(amountMsat);
      const outcome = await rig
        .start()
        .pay(requestFor(invoice))
        .catch(() => ({ state: 'pending' }));
      expect(outcome.state).not.toBe('failed');
      const found = await rig.start().lookUpPayment(decodeInvoice(invoice).paymentHash, never);
      expect(found.state).toBe('succeeded');
      expect(rig.faults?.asked()).toBe(1);
    });

    test('is pending in a state that is not documented', async () => {
      const rig = await startRig();
      rig.faults?.reportUnknownState();
      const invoice = await rig.foreignInvoice(amountMsat);
      const outcome = await rig
        .start()
        .pay(requestFor(invoice))
        .catch(() => ({ state: 'pending' }));
      expect(outcome.state).toBe('pending');
      const { paymentHash } = decodeInvoice(invoice);
      const found = await rig
        .start()
        .lookUpPayment(paymentHash, never)
        .catch(() => ({ state: 'pending' }));
      expect(found).toEqual({ state: 'pending' });
    });
  });

  test.skipIf(!isFake)(
    `never pays more than the fee limit, or states its own price${skipReason}`,
    async () => {
      const rig = await startRig();
      const { faults } = rig;
      if (faults === undefined) return;
      const backend = rig.start();
      const invoice = await rig.foreignInvoice(amountMsat);
      if (!faults.takesFeeLimit) {
        expect(backend.ownFeeMsat?.(amountMsat)).toBeGreaterThan(0);
        return;
      }
      faults.setFee(5001);
      expect(await backend.pay(requestFor(invoice, { maxFeeMsat: 5000 }))).toMatchObject({ state: 'failed' });
      faults.setFee(5000);
      const again = await backend.pay(requestFor(invoice, { maxFeeMsat: 5000 }));
      expect(again).toMatchObject({ state: 'succeeded', feeMsat: 5000 });
    },
  );

  test('makes an invoice unpayable before it is settled within the host, if it can', async () => {
    const rig = await startRig();
    const backend = rig.start();
    if (backend.cancelInvoice === undefined) return;
    const request = { walletId: 'wal_1', amountMsat, description: 'Tea', expirySeconds: 600 };
    const { invoice, preimage } = await backend.createInvoice(request);
    expect(preimage).toBeDefined();
    const { paymentHash } = decodeInvoice(invoice);
    expect(await backend.cancelInvoice(paymentHash, never)).toBe(true);
    expect(await rig.start().cancelInvoice?.(paymentHash, never)).toBe(true);
    await expect(rig.payFromOutside(invoice)).rejects.toThrow();
    expect(await backend.lookUpInvoice(paymentHash, never)).toBeUndefined();
    const paid = await backend.createInvoice(request);
    await rig.payFromOutside(paid.invoice);
    const paidHash = decodeInvoice(paid.invoice).paymentHash;
    expect(await backend.cancelInvoice(paidHash, never).catch(() => false)).toBe(false);
  });

  test('reveals the proof of an invoice until somebody has paid it, if it can', async () => {
    const rig = await startRig();
    const backend = rig.start();
    if (backend.revealPreimage === undefined) return;
    const request = { walletId: 'wal_1', amountMsat, description: 'Tea', expirySeconds: 600 };
    const { invoice } = await backend.createInvoice(request);
    const { paymentHash } = decodeInvoice(invoice);
    const revealed = await backend.revealPreimage(paymentHash, never);
    provenBy(invoice, revealed ?? new Uint8Array());
    await rig.payFromOutside(invoice);
    expect(await backend.revealPreimage(paymentHash, never)).toBeUndefined();
    expect(await backend.revealPreimage('ab'.repeat(32), never)).toBeUndefined();
  });

  test('lists what it received and paid since a time, with its marks where it keeps them', async () => {
    const rig = await startRig();
    const backend = rig.start();
    const mark = `gateway-wallet-02${'ab'.repeat(32)}`;
    const since = Date.now() - 60_000;
    const create = async (preimage: Buffer) => {
      const terms = { walletId: 'wal_1', amountMsat, description: 'Tea', expirySeconds: 600, mark, preimage };
      return (await backend.createInvoice(terms)).invoice;
    };
    const chosen = [1, 2, 3].map(() => randomBytes(32));
    const received: string[] = [];
    for (const preimage of chosen) received.push(await create(preimage));
    for (const invoice of received) await rig.payFromOutside(invoice);
    const absent = [await create(randomBytes(32))];
    const paid = [await rig.foreignInvoice(amountMsat), await rig.foreignInvoice(amountMsat)];
    for (const invoice of paid)
      expect((await backend.pay(requestFor(invoice, { mark }))).state).toBe('succeeded');
    const held: string[] = [];
    if (rig.faults) {
      rig.faults.next('fail');
      absent.push(await rig.foreignInvoice(amountMsat));
      await backend.pay(requestFor(absent.at(-1) ?? ''));
      if (!backend.mayForget) {
        rig.faults.next('hold');
        held.push(await rig.foreignInvoice(amountMsat));
        void backend.pay(requestFor(held[0] ?? '')).catch(() => {});
        await expect.poll(() => rig.faults?.asked()).toBe(4);
      }
    }
    const hashOf = (invoice: string) => decodeInvoice(invoice).paymentHash;
    const find = async (invoice: string) =>
      (await rig.start().history?.(since, never))?.filter(
        ({ paymentHash }) => paymentHash === hashOf(invoice),
      );
    for (const [index, invoice] of received.entries()) {
      await expect.poll(async () => (await find(invoice))?.length).toBe(1);
      const [move] = (await find(invoice)) ?? [];
      expect(move).toMatchObject({ kind: 'receipt', amountMsat, feeMsat: 0, invoice });
      if (keeps.includes('mark of receipts')) expect(move?.mark).toBe(mark);
      if (keeps.includes('preimage of receipts'))
        expect(Buffer.from(move?.preimage ?? []).equals(chosen[index] ?? Buffer.of(0))).toBe(true);
      expect(move?.at).toBeGreaterThan(since);
    }
    for (const invoice of paid) {
      const [move] = (await find(invoice)) ?? [];
      expect(move).toMatchObject({ kind: 'payment', amountMsat, invoice });
      expect(move?.isPending).toBeUndefined();
      provenBy(invoice, move?.preimage ?? new Uint8Array());
      if (keeps.includes('mark of payments')) expect(move?.mark).toBe(mark);
    }
    for (const invoice of absent) expect(await find(invoice)).toEqual([]);
    for (const invoice of held)
      expect(await find(invoice)).toEqual([expect.objectContaining({ kind: 'payment', isPending: true })]);
    for (const invoice of held) await rig.faults?.end(invoice, 'failed');
    expect(await rig.start().history?.(Date.now() + 7_200_000, never)).toEqual([]);
  });

  test('says that the node is unreachable, without its secret', async () => {
    const rig = await startRig();
    if (rig.stop === undefined) return;
    const backend = rig.start();
    const invoice = await rig.foreignInvoice(amountMsat);
    await rig.stop();
    const failures = await Promise.allSettled([
      backend.check(never),
      backend.prepare(never),
      backend.createInvoice({ walletId: 'wal_1', amountMsat, description: '', expirySeconds: 600 }),
      backend.lookUpPayment(decodeInvoice(invoice).paymentHash, never),
      backend.lookUpInvoice(decodeInvoice(invoice).paymentHash, never),
      backend.pay(requestFor(invoice)),
    ]);
    for (const [index, failure] of failures.entries()) {
      expect(failure, `call ${index}`).toMatchObject({
        status: 'rejected',
        reason: { name: 'BackendFailure', kind: 'unreachable' },
      });
    }
  });
}
