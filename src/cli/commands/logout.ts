import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { changeHostFile, hostNamed, loggedOut, readHostFile } from '../hosts/host-file.ts';
import { remoteLogins } from '../hosts/remote-login.ts';
import { example } from './example.ts';
import { endLogin } from './login.ts';

export const logoutCommand = (context: Context) =>
  new Command('logout')
    .addHelpText('after', example('gateway logout --host gateway.example.org'))
    .action(() => logOut(context));

async function logOut(context: Context): Promise<void> {
  const { name = '' } = context.host();
  const entry = hostNamed(readHostFile(context), name);
  if (!entry) {
    throw new CliError('You are not logged in to this host with a login that could be ended here.', {
      exit: exitCodes.failed,
      next: 'The daemon of this machine has its own login, which stays. Others: gateway host list',
    });
  }
  await dropLogin(context, entry.name);
  context.out.note(`Logged out of ${name}.`);
}

/** Ends the login of a named host there, and forgets it here. */
export async function dropLogin(context: Context, name: string): Promise<void> {
  const entry = hostNamed(readHostFile(context), name);
  if (!entry || entry.login === null) return;
  const logins = remoteLogins(context);
  const secret = await logins.read(entry).catch((error: unknown) => {
    if (error instanceof CliError && error.exit === exitCodes.signIn) return undefined;
    throw error;
  });
  const isEnded = secret === undefined || (await endLogin(context, entry.url, secret));
  await logins.forget(entry);
  changeHostFile(context, ({ hosts }) => {
    hosts[name] = loggedOut(entry.url);
  });
  if (isEnded) return;
  context.out.warn(`${entry.url} did not answer: the login is forgotten here, but still good there.`);
}
