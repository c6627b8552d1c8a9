import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { collectPages } from '../../hosts/pages.ts';
import { listKeys } from '../../manifest/endpoints.ts';
import { visible } from '../../output/visible.ts';

const keysMax = 1000;

/** Resolves a key given by its id or by the name of exactly one active key. */
export async function resolveKey(
  context: Context,
  { workspace, key }: { workspace: string; key: string },
): Promise<string> {
  if (key.startsWith('key_')) return key;
  const all = await collectPages(keysMax, (query) =>
    context.client().call(listKeys, { params: { workspace }, query }),
  );
  const found = all.filter(({ name, status }) => name === key && status === 'active');
  const [one, ...others] = found;
  if (one && others.length === 0) return one.id;
  const shown = visible(key);
  if (!one) {
    throw new CliError(`No active key is named "${shown}".`, {
      exit: exitCodes.failed,
      next: 'List the keys: gateway keys list',
    });
  }
  const ids = found.map(({ id }) => id).join(', ');
  throw new CliError(`${found.length} active keys are named "${shown}": ${ids}.`, {
    exit: exitCodes.failed,
    next: 'Use the id instead of the name.',
  });
}
