import type { Challenge } from '../../../features/payment-required/store.ts';
import type { paymentChallenges } from './tables.ts';

type Row = typeof paymentChallenges.$inferSelect;

export function rowOf({ request, commitment, rate, ...columns }: Challenge): Row {
  return {
    ...columns,
    method: request?.method ?? null,
    path: request?.path ?? null,
    digest: request?.digest ?? null,
    requestHash: commitment?.requestHash ?? null,
    payee: commitment?.payee ?? null,
    rate: rate.perBitcoin,
    rateSource: rate.source,
    rateAt: rate.at,
  };
}

export function challengeOf(row: Row): Challenge {
  const { method, path, digest, requestHash, payee, rate, rateSource, rateAt, ...columns } = row;
  return {
    ...columns,
    request: method === null || path === null || digest === null ? null : { method, path, digest },
    commitment: requestHash === null || payee === null ? null : { requestHash, payee },
    rate: { perBitcoin: rate, source: rateSource, at: rateAt },
  };
}
