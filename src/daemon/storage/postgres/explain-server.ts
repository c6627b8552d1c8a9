import { withoutPassword } from '../../../shared/storage/database-url.ts';
import { DatabaseUnusable } from '../sqlite/engine/errors.ts';
import { postgresCode } from './engine/errors.ts';

/** The failure of a server in words and with what to do, as `DatabaseUnusable`; other errors as they are. */
export function explainServer(url: string, error: unknown): unknown {
  const code = postgresCode(error);
  if (code === undefined) return error;
  const { message } = error as Error;
  return new DatabaseUnusable(`${withoutPassword(url)}: ${message}.\n${remedyFor(code, message)}`, {
    cause: error,
  });
}

function remedyFor(code: string, message: string): string {
  if (message.endsWith('no encryption'))
    return 'The server wants encryption: add sslmode=verify-full to the address.';
  if (message.includes('does not support SSL')) return 'Without encryption, its address has sslmode=disable.';
  if (message.includes('altnames'))
    return 'Check the host of the address. With sslmode=verify-ca and sslrootcert=FILE, its certificate can be for any name.';
  if (/client certificate|certificate (authentication|required)/.test(message))
    return 'The server wants a certificate of the client: add sslcert=FILE and sslkey=FILE to the address.';
  if (/\bcertificate\b/.test(message) && !/ cannot be read| is a folder/.test(message))
    return 'Add sslrootcert=FILE, its root certificate, to the address, or sslmode=no-verify, which trusts any server.';
  if (code.startsWith('28') || /password|pg_hba\.conf/.test(message))
    return 'Check the user and the password of the address, and pg_hba.conf on the server.';
  if (code === '3D000') return 'Create the database with createdb, or name another one in the address.';
  if (code === '42501') return 'Make its user the owner of the database, or grant it CREATE on the database.';
  if (code === '53300') return 'The server has no free connection; a daemon needs up to eight.';
  if (message.includes('is a standby'))
    return 'Use the primary server, or name all of them: postgres://USER@HOST1,HOST2/DATABASE.';
  if (code === '57P03') return 'The server is starting or stopping; try again.';
  if (code === '25006') return 'The server accepts no writes; use the primary server.';
  return 'Check that the server runs and that the address is right.';
}
