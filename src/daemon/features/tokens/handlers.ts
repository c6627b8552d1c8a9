import {
  type AccessToken,
  createToken,
  listTokens,
  revokeCurrentToken,
  revokeToken,
  revokeTokens,
} from '../../../shared/contract/tokens.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Caller, type Handler, implement } from '../../base/handler.ts';
import { withSecret } from '../../base/replies.ts';
import type { TokenRecord } from './store.ts';
import type { Tokens } from './tokens.ts';

interface TokenHandlersDeps {
  tokens: Tokens;
  /** The caller's number in the site API. */
  numberOf: (caller: Caller) => Promise<number>;
}

export function tokenHandlers({ tokens, numberOf }: TokenHandlersDeps): Handler[] {
  return [
    implement(listTokens, async ({ caller }) => ({
      data: (await tokens.list(caller)).map((record) => toToken(record, caller)),
    })),
    implement(createToken, async ({ caller, body }) => {
      const { name, abilities, expires_at: expiresAt } = body;
      const tokenableId = await numberOf(caller);
      const { record, secret } = await tokens.create(caller, { name, abilities, expiresAt });
      return withSecret<typeof createToken>({
        data: {
          token: secret,
          id: record.id,
          tokenableId,
          name: record.name,
          abilities: record.abilities,
          expiresAt: timeOrNull(record.expiresAt),
        },
      });
    }),
    implement(revokeCurrentToken, async ({ caller }) => {
      await tokens.revokeCurrent(caller);
      return { data: { deleted: true } };
    }),
    implement(revokeToken, async ({ caller, params }) => {
      await tokens.revoke(caller, params.tokenId);
      return { data: { deleted: true } };
    }),
    implement(revokeTokens, async ({ caller }) => ({
      data: { deletedCount: await tokens.revokeAll(caller) },
    })),
  ];
}

function toToken(record: TokenRecord, caller: Caller): AccessToken {
  return {
    id: record.id,
    name: record.name,
    abilities: record.abilities,
    lastUsedAt: timeOrNull(record.lastUsedAt),
    expiresAt: timeOrNull(record.expiresAt),
    createdAt: isoTime(record.createdAt),
    isCurrent: caller.kind === 'token' && caller.tokenId === record.id,
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
