/** The setting of the database's address; a variable or a file in its place may hold a password. */
export const databaseUrlVariable = 'GATEWAY_STORAGE_URL';

/**
 * The address of each server that an address of a PostgreSQL database names. Hosts of a primary and its standbys are separated by
 * commas, each with its port, as in `postgres://USER@HOST1:PORT1,HOST2:PORT2/DATABASE`. Source: "Connection URIs" of libpq.
 */
export function serverAddresses(text: string): string[] {
  const [, scheme, user = '', hosts, rest] = /^([^:/]+:\/\/)([^/?#]*@)?([^/?#@]*)(.*)$/s.exec(text) ?? [];
  if (hosts === undefined) return [text];
  return hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`);
}

/**
 * How long a server of this address has to accept a connection and to answer, in seconds: `connect_timeout`, at most an hour, or 3 if it
 * is not a positive number, as a daemon must not wait for one server without end. Source: "Parameter Key Words" of libpq.
 */
export function connectSeconds(address: string): number {
  const seconds = Number(parsed(address)?.searchParams.get('connect_timeout'));
  return seconds > 0 ? Math.min(seconds, 3600) : 3;
}

const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** What `ssl` means where it stands in place of `sslmode`, as other libraries have it. Source: "ssl" of pg-connection-string, and of asyncpg. */
export const sslWords: Readonly<Record<string, string>> = {
  true: 'verify-full',
  1: 'verify-full',
  false: 'disable',
  0: 'disable',
};

/** What an address of a PostgreSQL database lacks, as the end of a sentence that starts with its name; undefined if nothing. */
export function databaseUrlProblem(text: string): string | undefined {
  const urls = serverAddresses(text).map(parsed);
  if (urls.some((url) => url === undefined || (urls.length > 1 && url.hostname === '')))
    return 'must be an address like postgres://USER@HOST/DATABASE';
  if (urls.some((url) => /@/.test(`${url?.pathname}${url?.search}`) || url?.hash !== ''))
    return 'must have special characters of its password as percent codes, such as %2F for /';
  const mode = urls[0]?.searchParams.get('sslmode');
  if (mode && !sslModes.includes(mode)) return `must have one of ${sslModes.join(', ')} as sslmode`;
  const ssl = urls[0]?.searchParams.get('ssl');
  return !ssl || Object.hasOwn(sslWords, ssl) || sslModes.includes(ssl)
    ? undefined
    : 'must have true or false as ssl';
}

/** Whether an address contains a password. */
export function hasPassword(text: string): boolean {
  return serverAddresses(text).some((address) => {
    const url = parsed(address);
    return url !== undefined && (url.password !== '' || [...url.searchParams.keys()].some(isSecret));
  });
}

/** The address of a database without its password, to be shown. */
export function withoutPassword(text: string): string {
  // A password that is not recognized must not be shown either.
  if (databaseUrlProblem(text) !== undefined) return 'postgres://***';
  const urls = serverAddresses(text)
    .map(parsed)
    .filter((url) => url !== undefined);
  const [first] = urls;
  if (!first) return 'postgres://***';
  for (const name of [...first.searchParams.keys()]) if (isSecret(name)) first.searchParams.delete(name);
  const user = first.username === '' ? '' : `${first.username}@`;
  const hosts = urls.map(({ host }) => host).join(',');
  return `${first.protocol}//${user}${hosts}${first.pathname}${first.search}`;
}

/** `password`, and `sslpassword` of libpq. */
function isSecret(parameter: string): boolean {
  return parameter.toLowerCase().endsWith('password');
}

function parsed(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^postgres(ql)?:$/.test(url.protocol) && text.includes('://') ? url : undefined;
}
