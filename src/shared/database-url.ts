/** The setting of the database's address; a variable or a file in its place may hold a password. */
export const databaseUrlVariable = 'GATEWAY_STORAGE_URL';

/** What an address of a PostgreSQL database lacks, as the end of a sentence that starts with its name; undefined if nothing. */
export function databaseUrlProblem(text: string): string | undefined {
  const url = parsed(text);
  if (url === undefined) return 'must be an address like postgres://USER@HOST/DATABASE';
  if (url.pathname.includes('@'))
    return 'must have special characters of its password as percent codes, such as %2F for /';
  return undefined;
}

/** Whether an address contains a password. */
export function hasPassword(text: string): boolean {
  const url = parsed(text);
  return url !== undefined && (url.password !== '' || url.searchParams.has('password'));
}

/** The address of a database without its password, to be shown. */
export function withoutPassword(text: string): string {
  const url = parsed(text);
  // A password that is not recognized must not be shown either.
  if (url === undefined || databaseUrlProblem(text) !== undefined) return 'postgres://***';
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}

function parsed(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^postgres(ql)?:$/.test(url.protocol) && text.includes('://') ? url : undefined;
}
