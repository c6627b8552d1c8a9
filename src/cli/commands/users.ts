import { Command, Option } from '@commander-js/extra-typings';
import type { LoginCode, User } from '../../shared/contract/people.ts';
import { addUser, createLoginCode, listUsers } from '../../shared/endpoints.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { hostUrl, isLoopbackUrl, isSentInClear, loginLink, socketPathOf } from '../hosts/host-address.ts';
import { collectPages } from '../hosts/pages.ts';
import { resolveUser } from '../names/resolve.ts';
import { example, wholeNumber } from '../options.ts';
import type { Column } from '../output/table.ts';

export const addUserCommand = (context: Context) =>
  new Command('add')
    .argument('<handle>', "the user's handle on this host")
    .option('--name <name>', "the user's display name")
    .addOption(urlOption())
    .addHelpText('after', example('gateway users add ann --name "Ann Lee"'))
    .action(async (handle, { name, url }) => {
      const added = await context.client().call(addUser, { body: { handle, name } });
      await showLoginCode(context, added, url);
    });

export const listUsersCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'maximum number to list, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway users list --json=handle,name'))
    .action(async ({ limit }) => {
      const users = await collectPages(limit, (page) => context.client().call(listUsers, { query: page }));
      await context.out.table(users, userColumns(context.now()), { empty: 'No users.' });
    });

const userColumns = (now: number): Column<User>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'handle', value: ({ handle }) => handle },
  { title: 'name', value: ({ name }) => name },
  {
    title: 'created',
    value: (user) => user.created_at,
    show: (user) => ago(user.created_at, now),
    isSpare: true,
  },
];

export const loginCodeCommand = (context: Context) =>
  new Command('login-code')
    .argument('[user]', 'the id, handle or name of a user (default: yourself)', 'me')
    .addOption(urlOption())
    .addHelpText('after', example('gateway users login-code ann --url https://gateway.example.org'))
    .action(async (given, { url }) => {
      const params = { user: await resolveUser(context, given) };
      const made = await context.client().call(createLoginCode, { params });
      await showLoginCode(context, made, url);
    });

const urlOption = () =>
  new Option('--url <url>', 'the URL at which the user reaches this host, for the link');

/** Piped, it prints handle, code and link; with --quiet only the link. */
async function showLoginCode(context: Context, made: LoginCode, asked: string | undefined): Promise<void> {
  const url = asked === undefined ? context.host().url : hostUrl(asked);
  const shown = { ...made, link: loginLink(url, made.code) };
  await context.out.record(shown, loginCodeColumns(context.now()), {
    pipedRow: [user, code, link],
    shownOnce: code,
  });
  if (isLoopbackUrl(url)) {
    context.out.note('Other machines cannot use this address. Give a reachable one with --url.');
  }
  // The page does not work without encryption, nor on a socket.
  const hasPage = socketPathOf(url) === undefined && !isSentInClear(url);
  const inBrowser = hasPage ? 'open the link in a browser to create an API key, or ' : '';
  context.out.note(`The code works once: ${inBrowser}run \`gateway login\` and paste the link.`);
}

type Shown = Column<LoginCode & { link: string }>;

const user: Shown = { title: 'user', value: (shown) => shown.user.handle };
const code: Shown = { title: 'code', value: (shown) => shown.code, style: () => 'bold' };
const link: Shown = { title: 'link', value: (shown) => shown.link, essential: true };

const loginCodeColumns = (now: number): Shown[] => [
  user,
  code,
  link,
  { title: 'expires_at', value: (shown) => shown.expires_at, show: (shown) => ago(shown.expires_at, now) },
];
