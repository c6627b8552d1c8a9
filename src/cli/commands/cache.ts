import { Command } from '@commander-js/extra-typings';
import type { CacheView } from '../../shared/contract/cache.ts';
import { clearCache, getCache } from '../../shared/endpoints.ts';
import { sizeText } from '../../shared/text/size-text.ts';
import { duration } from '../../view/durations.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { resolveWorkspace } from '../names/resolve.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const showCacheCommand = (context: Context) =>
  new Command('show')
    .option('--workspace <workspace>', 'the workspace whose cache to use', 'me')
    .addHelpText('after', example('gateway cache show --json=entries,bytes'))
    .action(async ({ workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      await context.out.record(await context.client().call(getCache, { params }), columns);
    });

const columns: Column<CacheView>[] = [
  { title: 'entries', value: (cache) => cache.entries, show: (cache) => count(cache.entries) },
  { title: 'bytes', label: 'size', value: (cache) => cache.bytes, show: (cache) => sizeText(cache.bytes) },
  { title: 'default', value: (cache) => cache.default },
  {
    title: 'ttl_seconds',
    label: 'kept for',
    value: (cache) => cache.ttl_seconds,
    show: (cache) => duration(cache.ttl_seconds * 1000),
  },
];

export const clearCacheCommand = (context: Context) =>
  new Command('clear')
    .option('--workspace <workspace>', 'the workspace whose cache to use', 'me')
    .addHelpText('after', example('gateway cache clear'))
    .action(async ({ workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const cleared = await context.client().call(clearCache, { params });
      if (context.out.wantsJson()) return context.out.document(cleared);
      const { removed } = cleared;
      context.out.note(`${removed} ${removed === 1 ? 'response was' : 'responses were'} removed.`);
    });
