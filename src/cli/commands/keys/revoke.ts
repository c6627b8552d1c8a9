import { Command } from '@commander-js/extra-typings';
import { revokeKey } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';
import { keyNamed } from './key-named.ts';

export const revokeKeyCommand = (context: Context) =>
  new Command('revoke')
    .argument('<key>', 'the key: its id, key_…, or its name')
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway keys revoke key_01jd… --yes'))
    .action(async (key, { workspace, yes }) =>
      revokeKeyAndTell(context, { workspace, id: await keyNamed(context, { workspace, key }), yes }),
    );

interface Revocation {
  workspace: string;
  id: string;
  yes?: true | undefined;
}

async function revokeKeyAndTell(context: Context, { workspace, id, yes }: Revocation): Promise<void> {
  const question = `Revoke ${id}? Calls with it, and with keys that it issued, fail from then on.`;
  await confirm(context, question, { yes });
  const deleted = await context.client().call(revokeKey, { params: { workspace, key: id } });
  if (context.out.wantsJson()) return context.out.document(deleted);
  // A daemon of an earlier version does not tell of them.
  const others = deleted.also_revoked ?? [];
  const issued =
    others.length === 1 ? 'the key that it had issued' : `${others.length} keys that it had issued`;
  const also = others.length > 0 ? ` and ${issued}: ${others.join(', ')}` : '';
  context.out.note(`Revoked ${deleted.id}${also}.`);
}
