import { Command } from '@commander-js/extra-typings';
import type { Session } from '../../shared/contract/people.ts';
import { deleteSession, listSessions } from '../../shared/endpoints.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { noSuch } from '../failures/no-such.ts';
import { collectPages } from '../hosts/pages.ts';
import { asGiven, resolveSession } from '../names/resolve.ts';
import { example, wholeNumber, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';

export const listSessionsCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'maximum number to list, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway sessions list'))
    .action(async ({ limit }) => {
      const found = await collectPages(limit, (page) => context.client().call(listSessions, { query: page }));
      await context.out.table(found, sessionColumns(context.now()), { empty: 'No logins.' });
    });

const sessionColumns = (now: number): Column<Session>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name },
  { title: 'kind', value: ({ kind }) => kind },
  {
    title: 'current',
    value: (session) => session.is_current,
    show: (session) => (session.is_current ? 'yes' : ''),
  },
  {
    title: 'created',
    value: (session) => session.created_at,
    show: (session) => ago(session.created_at, now),
  },
  {
    title: 'last_used',
    value: (session) => session.last_used_at,
    show: ({ last_used_at }) => (last_used_at === null ? 'never' : ago(last_used_at, now)),
  },
  { title: 'expires', value: ({ expires_at }) => expires_at },
];

export const revokeSessionCommand = (context: Context) =>
  new Command('revoke')
    .argument('<session>', 'the id or name of one of your logins')
    .addOption(yesOption())
    .addHelpText('after', example('gateway sessions revoke key_01jd… --yes'))
    .action(async (given, { yes }) => {
      const session = await resolveSession(context, given);
      const name = asGiven(given, session);
      const find = () => requireSession(context, session);
      await confirm(context, `Revoke the login ${name}? Programs that use it will be refused.`, {
        yes,
        find,
      });
      const ended = await context.client().call(deleteSession, { params: { session } });
      return context.out.done(ended, `Revoked ${name}.`);
    });

/** Fails if none of the caller's logins has this id; beyond the longest list that is read, the daemon decides. */
async function requireSession(context: Context, id: string): Promise<void> {
  const max = 1000;
  const sessions = await collectPages(max, (query) => context.client().call(listSessions, { query }));
  if (sessions.length < max && !sessions.some((session) => session.id === id)) {
    throw noSuch('login', id, 'gateway sessions list');
  }
}
