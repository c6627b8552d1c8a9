import { Command } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type { getSession as getSessionContract } from '../../shared/contract/people.ts';
import { getKey, getSession } from '../../shared/endpoints.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import type { Context } from '../context.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const whoamiCommand = (context: Context) =>
  new Command('whoami')
    .addHelpText('after', example('gateway whoami --jq .user.handle'))
    .action(() => showCurrentUser(context));

async function showCurrentUser(context: Context): Promise<void> {
  const { url, name } = context.host();
  try {
    const session = await context.client().call(getSession, {});
    await context.out.record({ host: name ?? null, url, ...session }, columns);
  } catch (error) {
    // The credential is an API key, which has no user.
    if (!(error instanceof ReceivedError) || error.code !== 'signed_out') throw error;
    const key = await context.client().call(getKey, {});
    await context.out.record(
      { host: name ?? null, url, key: { id: key.id, name: key.name, workspace: key.workspace } },
      keyColumns,
    );
  }
  if (context.env.GATEWAY_KEY) context.out.note('GATEWAY_KEY is used, not a login.');
}

type Who = Result<typeof getSessionContract> & { host: string | null; url: string };

const columns: Column<Who>[] = [
  { title: 'user', value: ({ user }) => user.handle, essential: true },
  { title: 'name', value: ({ user }) => user.name },
  { title: 'workspace', value: ({ workspace }) => workspace.slug },
  { title: 'role', value: ({ workspace }) => workspace.role },
  { title: 'login', value: ({ session }) => session.name },
  { title: 'host', value: ({ host }) => host },
  { title: 'url', value: ({ url }) => url },
];

interface WhichKey {
  host: string | null;
  url: string;
  key: { id: string; name: string; workspace: string };
}

const keyColumns: Column<WhichKey>[] = [
  { title: 'key', value: ({ key }) => key.id, essential: true },
  { title: 'name', value: ({ key }) => key.name },
  { title: 'workspace', value: ({ key }) => key.workspace },
  { title: 'host', value: ({ host }) => host },
  { title: 'url', value: ({ url }) => url },
];
