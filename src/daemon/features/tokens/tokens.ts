import type { Ability } from '../../../shared/contract/endpoint.ts';
import { abilityNames } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { makeSecret } from '../../../shared/secrets.ts';
import { parseTime } from '../../../shared/time/time.ts';
import { actingUser, type Caller } from '../../base/handler.ts';
import type { TokenRecord, TokensStore } from './store.ts';

export interface TokensDeps {
  store: TokensStore;
  /** When a token was last used, if not stored yet. */
  lastUse: (tokenId: string) => number | undefined;
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

/** Creates, lists and revokes the caller's access tokens. */
export function createTokens(deps: TokensDeps) {
  const { store, lastUse, now } = deps;

  const revoke = async (caller: Caller, tokenId: string | undefined): Promise<number> =>
    (await store.revoke(actingUser(caller).userId, tokenId, now())).length;
  const revokeOne = async (caller: Caller, tokenId: string): Promise<void> => {
    if ((await revoke(caller, tokenId)) === 0) throw new ApiError('not_found');
  };

  return {
    /** Fails with `invalid_request` for an expiry in the past, or after that of the calling token. */
    async create(
      caller: Caller,
      { name, abilities, expiresAt }: NewToken,
    ): Promise<{ record: TokenRecord; secret: string }> {
      wellFormed(name, 'name');
      const secret = makeSecret('token', deps.randomBytes);
      const record: TokenRecord = {
        id: deps.makeId('tok'),
        userId: actingUser(caller).userId,
        digest: deps.digest(secret),
        name,
        abilities: abilityNames.filter((ability) => (abilities ?? ['*']).includes(ability)),
        createdAt: now(),
        expiresAt: expiryOf(expiresAt ?? null, {
          latest: caller.kind === 'token' ? caller.expiresAt : null,
          now: now(),
        }),
        lastUsedAt: null,
        revokedAt: null,
        makerId: caller.kind === 'token' ? caller.tokenId : null,
      };
      if (!(await store.insert(record))) throw new ApiError('unauthenticated');
      return { record, secret };
    },

    async list(caller: Caller): Promise<TokenRecord[]> {
      const records = await store.list(actingUser(caller).userId);
      return records.map((record) => ({
        ...record,
        lastUsedAt: lastUse(record.id) ?? record.lastUsedAt,
      }));
    },

    /** Fails with `not_found` for a token that is not the caller's, or was revoked before. */
    revoke: revokeOne,

    /** Revokes the calling token; fails with `not_found` for other credentials. */
    async revokeCurrent(caller: Caller): Promise<void> {
      if (caller.kind !== 'token') throw new ApiError('not_found');
      await revokeOne(caller, caller.tokenId);
    },

    /** Returns the number of revoked tokens. */
    revokeAll: (caller: Caller): Promise<number> => revoke(caller, undefined),
  };
}

export type Tokens = ReturnType<typeof createTokens>;

/** The expiry of a new token, which may not outlive the calling token. */
function expiryOf(
  text: string | null,
  { latest, now }: { latest: number | null; now: number },
): number | null {
  if (text === null) return latest;
  const time = parseTime(text);
  if (time === undefined)
    throw inputFault('expires_at', 'must be a time, like 2027-01-31T00:00:00Z or 2027-01-31T00:00:00+01:00');
  if (time <= now) throw inputFault('expires_at', 'must be in the future');
  if (latest !== null && time > latest)
    throw inputFault('expires_at', 'must not be later than the expiry of your own token');
  return time;
}
