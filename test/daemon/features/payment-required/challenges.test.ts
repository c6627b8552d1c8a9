import { expect, test } from 'vitest';
import type { KeyCaller } from '../../../../src/daemon/base/handler.ts';
import {
  Challenges,
  type ChallengesDeps,
} from '../../../../src/daemon/features/payment-required/challenges.ts';
import { ApiError } from '../../../../src/shared/errors.ts';

test.each([
  ['key', { key_1: 7 }],
  ['address', { '10.0.0.7': 7 }],
])('too many invoices for one %s are refused', async (_of, waits: Record<string, number>) => {
  const limit = { take: (name: string) => waits[name] ?? 0 };
  const issued: string[] = [];
  const deps: Partial<ChallengesDeps> = {
    limits: { credential: limit, address: limit },
    receiver: async () => ({}) as Awaited<ReturnType<ChallengesDeps['receiver']>>,
    rates: { current: async () => ({}) as Awaited<ReturnType<ChallengesDeps['rates']['current']>> },
    backend: () => ({ network: 'regtest' }),
    invoices: {
      async issue(_wallet, { description }) {
        issued.push(description);
        throw new ApiError('unavailable');
      },
    },
    log: { warn: () => {} },
  };
  const challenges = new Challenges(deps as ChallengesDeps);
  const askAs = (keyId: string, remoteAddress: string) =>
    challenges.forCredit({ caller: { kind: 'key', keyId } as KeyCaller, remoteAddress }, () => 1000);
  await expect(askAs('key_1', '10.0.0.7')).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterSeconds: 7,
  });
  expect(issued).toEqual([]);
  await expect(askAs('key_2', '10.0.0.8')).rejects.toMatchObject({ code: 'unavailable' });
  expect(issued).toHaveLength(1);
});
