import { Command } from '@commander-js/extra-typings';
import type { Profile } from '../../shared/contract/profile.ts';
import { deleteProfile, getMe, updateProfile } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';

export const showProfileCommand = (context: Context) =>
  new Command('show').addHelpText('after', example('gateway profile show')).action(async () => {
    const { data } = await context.client().call(getMe, { query: { chat_limit: 1 } });
    await context.out.record(data.user, profileColumns(context.now()));
  });

export const setProfileCommand = (context: Context) =>
  new Command('set')
    .option('--name <name>', 'your display name')
    .option('--email <address>', 'your email address')
    .option('--avatar <url>', 'the URL of an avatar image; empty for none')
    .option('--handle <handle>', 'your handle on this host')
    .addHelpText('after', example('gateway profile set --name "Ann Lee" --email ann@example.com'))
    .action(async ({ name, email, avatar, handle }) => {
      const changes = { name, email, avatar, handle };
      if (Object.values(changes).every((value) => value === undefined)) {
        throw new CliError('Nothing to change: give at least one option.', { exit: exitCodes.usage });
      }
      await context.client().call(updateProfile, { body: changes });
      const { data } = await context.client().call(getMe, { query: { chat_limit: 1 } });
      await context.out.record(data.user, profileColumns(context.now()));
    });

export const deleteProfileCommand = (context: Context) =>
  new Command('delete')
    .argument('<email>', 'your email address, to confirm')
    .addOption(yesOption())
    .addHelpText('after', example('gateway profile delete ann@example.com --yes'))
    .action(async (email, { yes }) => {
      const question =
        'Delete your account on this host? This ends your logins, tokens and keys, and deletes your shouts.';
      await confirm(context, question, { yes });
      const { data } = await context.client().call(deleteProfile, { body: { email } });
      return context.out.done(data, 'Deleted.');
    });

type Shown = Profile & { handle?: string };

const profileColumns = (now: number): Column<Shown>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'handle', value: ({ handle }) => handle, essential: true },
  { title: 'name', value: ({ name }) => name },
  { title: 'email', value: ({ email }) => email, show: ({ email }) => email || '–' },
  { title: 'avatar', value: ({ avatar }) => avatar, show: ({ avatar }) => avatar || '–' },
  { title: 'created', value: ({ createdAt }) => createdAt, show: ({ createdAt }) => ago(createdAt, now) },
  { title: 'updated', value: ({ updatedAt }) => updatedAt, show: ({ updatedAt }) => ago(updatedAt, now) },
];
