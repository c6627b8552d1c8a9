import { Command } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type { createSession as createSessionContract } from '../../shared/contract/people.ts';
import { createSession, signOut } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { hostUrl, readLoginLink, socketPathOf } from '../hosts/host-address.ts';
import {
  changeHostFile,
  findHostEntry,
  type LoginStore,
  localName,
  loggedOut,
  type NamedHost,
  readHostFile,
} from '../hosts/host-file.ts';
import { remoteLogins } from '../hosts/remote-login.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';
import { readCode } from '../terminal/prompts.ts';

interface LoginOptions {
  name?: string | undefined;
  codeFromEnv?: string | undefined;
  insecureStorage?: true | undefined;
}

export const loginCommand = (context: Context) =>
  new Command('login')
    .argument('[url]', "the host's URL or name (default: the one in the pasted link)")
    .option('--name <name>', 'a name for the host (default: its address)')
    .option('--code-from-env <variable>', 'read the code from this environment variable')
    .option('--insecure-storage', 'store the login in a file that only you can read, not in the keychain')
    .addHelpText('after', example('gateway login https://gateway.example.org'))
    .action((url, options) => logIn(context, url, options));

/** Exchanges a code for a login, stores it, and makes the host the one in use. */
export async function logIn(
  context: Context,
  asked: string | undefined,
  { name, codeFromEnv, insecureStorage }: LoginOptions,
): Promise<void> {
  if (asked?.includes('#')) {
    throw usageError(
      'A code in an argument can be read by other users.',
      'Run gateway login and paste the link when it asks.',
    );
  }
  // An address with a typing error should not cost the code that is about to be typed.
  if (asked !== undefined) addressOf(context, asked);
  const store: LoginStore = insecureStorage ? 'file' : 'keychain';
  const logins = remoteLogins(context);
  // A code works once, so check first that its login can be stored.
  await logins.check(store);
  const question = asked === undefined ? 'Login link' : `Login code for ${asked}`;
  const { url: linked, code } = readLoginLink(await readCode(context, { question, fromEnv: codeFromEnv }));
  const url = addressOf(context, asked ?? context.flags.host ?? linked);
  if (linked !== undefined && hostUrl(linked) !== url) {
    throw new CliError(`The link is for ${linked}, not for ${url}.`, { exit: exitCodes.usage });
  }
  const chosen = name ?? nameFor(context, url);
  if (chosen === localName) throw localIsTaken();
  const old = previousLogin(context, chosen);
  const made = await context
    .clientFor({ url, token: undefined, workspace: undefined })
    .call(createSession, { body: { code, name: machineName() } });
  const entry = { url, login: store, session: made.session.id, user: made.user.handle, workspace: null };
  try {
    await logins.store(entry, made.secret);
  } catch (error) {
    await endLogin(context, url, made.secret);
    throw error;
  }
  changeHostFile(context, (file) => {
    file.hosts[chosen] = entry;
    file.current = chosen;
  });
  if (old) await replaceLogin(context, old);
  context.forgetHost();
  await context.out.record({ ...made, host: chosen, url }, columns);
  context.out.note(
    `Commands now connect to ${chosen}. To switch back to this machine: gateway host use ${localName}`,
  );
  for (const variable of ['GATEWAY_HOST', 'GATEWAY_KEY']) {
    if (context.env[variable]) context.out.warn(`${variable} is set and takes precedence.`);
  }
}

function addressOf(context: Context, wanted: string | undefined): string {
  if (wanted === undefined) {
    throw usageError(
      'No host was given.',
      'Give its address with gateway login URL, or paste the whole link.',
    );
  }
  return findHostEntry(readHostFile(context), wanted)?.url ?? hostUrl(wanted);
}

/** The configured name of this address, else its host and port, or the name of its socket file. */
function nameFor(context: Context, url: string): string {
  const { hosts } = readHostFile(context);
  const known = Object.keys(hosts).find((name) => hosts[name]?.url === url);
  return known ?? (socketPathOf(url)?.split('/').at(-1) || new URL(url).host);
}

function previousLogin(context: Context, name: string) {
  return findHostEntry(readHostFile(context), name);
}

export function localIsTaken(): CliError {
  return new CliError(`\`${localName}\` is this machine's daemon; choose another name.`, {
    exit: exitCodes.usage,
  });
}

/** Ends the login that a new one has replaced; only warns if that fails. */
async function replaceLogin(context: Context, old: NamedHost): Promise<void> {
  const logins = remoteLogins(context);
  try {
    const secret = await logins.read(old);
    if (secret === undefined) return;
    await logins.forget(old);
    if (await endLogin(context, old.url, secret)) return;
  } catch {
    // As if the host had not responded.
  }
  context.out.warn(`The previous login could not be ended; see: gateway sessions list`);
}

/** Ends a login on its host; returns whether it has ended. */
async function endLogin(context: Context, url: string, token: string): Promise<boolean> {
  try {
    await context.clientFor({ url, token, workspace: undefined }).call(signOut, {});
    return true;
  } catch (error) {
    // A refused login has already ended.
    return error instanceof ReceivedError && error.code === 'unauthenticated';
  }
}

function machineName(): string {
  const name = process.getBuiltinModule('node:os').hostname().trim().slice(0, 64).trimEnd();
  return /^[\x20-\x7e]+$/.test(name) ? name : 'unnamed';
}

type LoggedIn = Result<typeof createSessionContract> & { host: string; url: string };

const columns: Column<LoggedIn>[] = [
  { title: 'host', value: ({ host }) => host },
  { title: 'url', value: ({ url }) => url },
  { title: 'user', value: ({ user }) => user.handle },
  { title: 'workspace', value: ({ workspace }) => workspace.slug },
];

export const logoutCommand = (context: Context) =>
  new Command('logout')
    .addHelpText('after', example('gateway logout --host gateway.example.org'))
    .action(() => logOut(context));

async function logOut(context: Context): Promise<void> {
  const { name = '' } = context.host();
  const entry = findHostEntry(readHostFile(context), name);
  if (!entry) {
    throw new CliError('You are not logged in to this host.', {
      exit: exitCodes.failed,
      next: context.env.GATEWAY_KEY
        ? 'Commands use GATEWAY_KEY: unset it.'
        : "This machine's daemon needs no login. Other hosts: gateway host list",
    });
  }
  await dropLogin(context, entry.name);
  context.out.note(`Logged out of ${name}.`);
  if (context.env.GATEWAY_KEY) context.out.warn('GATEWAY_KEY is still set, and commands use it.');
}

/** Ends the login of a configured host and deletes it here. */
export async function dropLogin(context: Context, name: string): Promise<void> {
  const entry = findHostEntry(readHostFile(context), name);
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
  context.out.warn(`${entry.url} did not respond: the login is deleted here but still valid there.`);
}
