import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import { connectSeconds, sslWords } from '../../../../shared/storage/database-url.ts';
import { readNamedText } from '../../../runtime/read-named-file.ts';

/** Of certificates and keys. */
const limits = { bytesMax: 1024 ** 2 };

/** How to connect to a server. */
export interface ServerAccess {
  config: pg.ClientConfig;
  /** How long it has to accept the connection and to answer. */
  seconds: number;
  /** Whether the connection is used without encryption if the server has none. */
  isTlsOptional: boolean;
  /** Whether the server must prove that nobody between holds the encryption. */
  mustBind: boolean;
}

/**
 * What the address of one server says of the connection. Source: "Parameter Key Words" of libpq, but that `require` checks the
 * certificate where no root is named, as addresses of hosts have it that need no more. Rejects if a file cannot be read.
 */
export async function accessTo(address: string): Promise<ServerAccess> {
  const url = new URL(address);
  const take = (name: string): string | undefined => {
    const value = url.searchParams.get(name) || undefined;
    url.searchParams.delete(name);
    return value;
  };
  const seconds = connectSeconds(address);
  take('application_name');
  const word = take('ssl');
  const mode = take('sslmode') ?? (word && (sslWords[word] ?? word));
  const [root, cert, key] = [take('sslrootcert'), take('sslcert'), take('sslkey')];
  const negotiation = take('sslnegotiation') === 'direct' ? 'direct' : undefined;
  const binding = take('channel_binding');
  const isSocket = decodeURIComponent(url.hostname || url.searchParams.get('host') || '').startsWith('/');
  let ssl: pg.ClientConfig['ssl'];
  if (isSocket || mode === 'disable') ssl = false;
  else if (mode ?? root ?? cert ?? key ?? negotiation) {
    const ca = root === undefined || root === 'system' ? undefined : await readNamedText(root, limits);
    ssl = { ...identityCheck(mode, ca, url.searchParams.get('uselibpqcompat') === 'true') };
    if (ca !== undefined) ssl.ca = ca;
    if (cert !== undefined) ssl.cert = await readNamedText(cert, limits);
    if (key !== undefined) ssl.key = await readNamedText(key, limits);
  }
  return {
    config: {
      connectionString: url.href,
      ...(ssl !== undefined && { ssl }),
      ...(negotiation && { sslnegotiation: negotiation }),
      enableChannelBinding: binding === 'require' || binding === 'prefer',
    },
    seconds,
    isTlsOptional: mode === 'prefer' || mode === 'allow',
    mustBind: binding === 'require',
  };
}

function identityCheck(mode = '', ca: string | undefined, isLibpq: boolean): ConnectionOptions {
  const isUnchecked =
    ['no-verify', 'allow', 'prefer'].includes(mode) || (mode === 'require' && isLibpq && !ca);
  if (isUnchecked) return { rejectUnauthorized: false };
  return ca && (mode === 'verify-ca' || mode === 'require') ? { checkServerIdentity: () => undefined } : {};
}
