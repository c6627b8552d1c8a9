import type { Ability } from '../../../shared/contract/endpoint.ts';
import { abilityNames } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { inputFault, wellFormed } from '../../../shared/input-faults.ts';
import { makeSecret } from '../../../shared/secrets.ts';
import { parseTime } from '../../../shared/time.ts';
import { actingUser, type Caller } from '../../handler.ts';
import type { TokenRecord, TokensStore } from './tokens-store.ts';

export interface TokensNeeds {
  store: TokensStore;
  /** Told once it is on disk that a token ended; and when a token was last used, as far as the store does not know. */
  authenticator: { revoke(id: string): void; lastTokenUse(id: string): number | undefined };
  digest: (secret: string) => string;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

export interface NewToken {
  name: string;
  abilities: readonly Ability[] | undefined;
  expiresAt: string | null | undefined;
}

/** Making, listing and revoking the access tokens of whoever calls. */
export function tokens(needs: TokensNeeds) {
  const { store, authenticator, now } = needs;

  const end = async (caller: Caller, tokenId: string | undefined): Promise<number> => {
    const ended = await store.revoke(actingUser(caller).userId, tokenId, now());
    for (const id of ended) authenticator.revoke(id);
    return ended.length;
  };
  const endOne = async (caller: Caller, tokenId: string): Promise<void> => {
    if ((await end(caller, tokenId)) === 0) throw new ApiError('not_found');
  };

  return {
    /** Fails with `invalid_request` for a time that is past, or beyond that of the token that asks. */
    async create(
      caller: Caller,
      { name, abilities, expiresAt }: NewToken,
    ): Promise<{ record: TokenRecord; secret: string }> {
      wellFormed(name, 'name');
      const secret = makeSecret('token', needs.randomBytes);
      const record: TokenRecord = {
        id: needs.makeId('tok'),
        userId: actingUser(caller).userId,
        digest: needs.digest(secret),
        name,
        abilities: abilityNames.filter((ability) => (abilities ?? ['*']).includes(ability)),
        createdAt: now(),
        expiresAt: endOf(expiresAt ?? null, { caller, now: now() }),
        lastUsedAt: null,
        revokedAt: null,
      };
      await store.insert(record);
      return { record, secret };
    },

    async list(caller: Caller): Promise<TokenRecord[]> {
      const records = await store.list(actingUser(caller).userId);
      return records.map((record) => ({
        ...record,
        lastUsedAt: authenticator.lastTokenUse(record.id) ?? record.lastUsedAt,
      }));
    },

    /** Fails with `not_found` for a token that is none of the caller's, or ended before. */
    revoke: endOne,

    /** Ends the token that calls; fails with `not_found` when something else does. */
    async revokeCurrent(caller: Caller): Promise<void> {
      if (caller.kind !== 'token') throw new ApiError('not_found');
      await endOne(caller, caller.tokenId);
    },

    /** How many it ended. */
    revokeAll: (caller: Caller): Promise<number> => end(caller, undefined),
  };
}

export type Tokens = ReturnType<typeof tokens>;

/** When a new token ends: what a token makes does not outlive it. */
function endOf(text: string | null, { caller, now }: { caller: Caller; now: number }): number | null {
  const latest = caller.kind === 'token' ? caller.expiresAt : null;
  if (text === null) return latest;
  const time = parseTime(text);
  if (time === undefined) throw inputFault('expires_at', 'must be a time in UTC, like 2027-01-31T00:00:00Z');
  if (time <= now) throw inputFault('expires_at', 'must be in the future');
  if (latest !== null && time > latest) throw inputFault('expires_at', 'must not be later than your own end');
  return time;
}
