import { Command } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type { createSession as createSessionContract } from '../../shared/contract/people.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/received-error.ts';
import { createSession, signOut } from '../addresses.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { hostUrl, readLoginLink, socketPathOf } from '../hosts/host-address.ts';
import {
  changeHostFile,
  hostNamed,
  type LoginPlace,
  localName,
  loggedOut,
  type NamedHost,
  readHostFile,
} from '../hosts/host-file.ts';
import { remoteLogins } from '../hosts/remote-login.ts';
import { example } from '../manifest/options.ts';
import type { Column } from '../output/table.ts';
import { readCode } from '../terminal/prompts.ts';

interface LoginOptions {
  name?: string | undefined;
  codeFromEnv?: string | undefined;
  insecureStorage?: true | undefined;
}

export const loginCommand = (context: Context) =>
  new Command('login')
    .argument('[url]', 'the address of the host, or its name; a link that is pasted as the code says it too')
    .option('--name <name>', 'what to call the host here; its address unless told')
    .option('--code-from-env <variable>', 'read the code from this environment variable')
    .option('--insecure-storage', 'keep the login in a file that only you can read, not in the keychain')
    .addHelpText('after', example('gateway login https://gateway.example.org'))
    .action((url, options) => logIn(context, url, options));

/** Exchanges a code for a login, keeps it, and makes the host the one in use. */
export async function logIn(
  context: Context,
  asked: string | undefined,
  { name, codeFromEnv, insecureStorage }: LoginOptions,
): Promise<void> {
  if (asked?.includes('#')) {
    throw new CliError('A code in an argument can be read by others.', {
      exit: exitCodes.usage,
      next: 'Run gateway login and paste the link when it asks.',
    });
  }
  const place: LoginPlace = insecureStorage ? 'file' : 'keychain';
  const logins = remoteLogins(context);
  // A code works once: whether its login can be kept is found out before it is used up.
  await logins.check(place);
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
  const entry = { url, login: place, session: made.session.id, user: made.user.handle, workspace: null };
  try {
    await logins.keep(entry, made.secret);
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
    `Commands speak to ${chosen} from now on; back to this machine: gateway host use ${localName}`,
  );
  for (const variable of ['GATEWAY_HOST', 'GATEWAY_KEY']) {
    if (context.env[variable]) context.out.warn(`${variable} is set, and goes before this.`);
  }
}

function addressOf(context: Context, said: string | undefined): string {
  if (said === undefined) {
    throw new CliError('Which host?', {
      exit: exitCodes.usage,
      next: 'Say its address, gateway login URL, or paste the whole link.',
    });
  }
  return hostNamed(readHostFile(context), said)?.url ?? hostUrl(said);
}

/** The name that this address has already, else its host and port, or that of its socket's file. */
function nameFor(context: Context, url: string): string {
  const { hosts } = readHostFile(context);
  const known = Object.keys(hosts).find((name) => hosts[name]?.url === url);
  return known ?? (socketPathOf(url)?.split('/').at(-1) || new URL(url).host);
}

function previousLogin(context: Context, name: string) {
  return hostNamed(readHostFile(context), name);
}

export function localIsTaken(): CliError {
  return new CliError(`\`${localName}\` is the daemon of this machine; choose another name.`, {
    exit: exitCodes.usage,
  });
}

/** Ends a login in whose place there is another; one that cannot be had or reached is only told of. */
async function replaceLogin(context: Context, old: NamedHost): Promise<void> {
  const logins = remoteLogins(context);
  try {
    const secret = await logins.read(old);
    if (secret === undefined) return;
    await logins.forget(old);
    if (await endLogin(context, old.url, secret)) return;
  } catch {
    // As for one that did not answer.
  }
  context.out.warn(`The login from before could not be ended; see: gateway sessions list`);
}

/** Signs a login out that nobody will use; that it could not be reached changes nothing. */
export async function endLogin(context: Context, url: string, token: string): Promise<boolean> {
  try {
    await context.clientFor({ url, token, workspace: undefined }).call(signOut, {});
    return true;
  } catch (error) {
    // One that is refused was ended before.
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
