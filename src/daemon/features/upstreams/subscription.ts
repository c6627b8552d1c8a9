import { createHash } from 'node:crypto';
import { gatewayKeyHeader } from '../../../shared/http/gateway-key.ts';
import type { CallFormat } from './neutral.ts';

/**
 * The client's own login at a provider, which came with the call beside Gateway's key. It authenticates this call at this
 * provider only, and is neither stored nor shown.
 */
export interface Subscription {
  provider: 'anthropic' | 'openai';
  /** The `Authorization` header as it came. */
  authorization: string;
  /** What the provider wants to know besides, by lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** Tells tokens apart, so that what one is refused for does not count against others. */
  fingerprint: string;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The formats in which logins are taken, with what is passed on besides the token. */
const takers = {
  messages: {
    provider: 'anthropic',
    headers: ['user-agent', 'x-app'],
    // An API key is paid for by the call.
    isLogin: (authorization: string) => !/^Bearer sk-ant-api/i.test(authorization),
  },
  // Source: what Codex sends to ChatGPT's back end with a ChatGPT login, whose tokens are JWTs.
  responses: {
    provider: 'openai',
    headers: ['chatgpt-account-id', 'openai-beta', 'originator', 'session_id', 'user-agent', 'version'],
    isLogin: (authorization: string, headers: Headers) =>
      headers['chatgpt-account-id'] !== undefined ||
      /^Bearer eyJ[\w-]+\.[\w-]+\.[\w-]+$/i.test(authorization),
  },
} as const;

/**
 * The login that came with a call; undefined if none did. `Authorization` is the provider's only where Gateway's key is elsewhere,
 * and is ignored where it holds something else.
 */
export function subscriptionIn(headers: Headers | undefined, format: CallFormat): Subscription | undefined {
  const authorization = headers?.authorization;
  if (typeof authorization !== 'string' || headers?.[gatewayKeyHeader] === undefined) return undefined;
  const taker = format === 'messages' || format === 'responses' ? takers[format] : undefined;
  if (!taker || !/^Bearer \S+$/i.test(authorization) || !taker.isLogin(authorization, headers))
    return undefined;
  const passed: Record<string, string> = {};
  for (const name of taker.headers) {
    const value = headers[name];
    if (typeof value === 'string') passed[name] = value;
  }
  const fingerprint = createHash('sha256').update(authorization).digest('base64url').slice(0, 16);
  return { provider: taker.provider, authorization, headers: passed, fingerprint };
}
