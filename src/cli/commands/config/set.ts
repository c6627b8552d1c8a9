import { Command } from '@commander-js/extra-typings';
import { reloadConfiguration } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { localName } from '../../hosts/host-file.ts';
import { findHost } from '../../hosts/hosts.ts';
import { readDaemonFile } from '../../hosts/local-daemon.ts';
import { example } from '../example.ts';
import { faultsTold, fileOption, placeOf } from './place.ts';

export const setConfigCommand = (context: Context) =>
  new Command('set')
    .argument('<name>', 'a setting, as in listen.port or aliases.fast')
    .argument('<value>', 'text, a number, true or false; lists and maps as JSON or YAML')
    .option(...fileOption)
    .addHelpText('after', example('gateway config set aliases.fast openai/gpt-5-mini'))
    .action((name, value, { config }) => change(context, { name, value, file: config }));

export const unsetConfigCommand = (context: Context) =>
  new Command('unset')
    .argument('<name>', 'a setting')
    .option(...fileOption)
    .addHelpText('after', example('gateway config unset aliases.fast'))
    .action((name, { config }) => change(context, { name, value: undefined, file: config }));

interface Change {
  name: string;
  value: string | undefined;
  file: string | undefined;
}

async function change(context: Context, { name, value, file }: Change): Promise<void> {
  const tools = await (await context.daemon()).loadConfigTools();
  const place = placeOf(context, file);
  const outcome = await tools.set(place, name, value);
  if ('faults' in outcome) throw faultsTold(outcome.faults, 'Nothing was written.');
  const path = tools.path(place);
  if (context.out.wantsJson()) await context.out.document({ file: path, changed: outcome.isChanged });
  if (!outcome.isChanged) return context.out.note(`${path} says so already.`);
  const isRunning = file === undefined && readDaemonFile(context) !== undefined;
  context.out.note(`Written to ${path}.${isRunning ? await takenIn(context, name) : ''}`);
}

/** Has the local daemon read the file at once, so that what is asked next is answered as it says. */
async function takenIn(context: Context, name: string): Promise<string> {
  try {
    const client = context.clientFor(findHost(localName, context));
    const { waiting } = await client.call(reloadConfiguration, {});
    const waits = waiting.some(
      (one) => name === one || name.startsWith(`${one}.`) || one.startsWith(`${name}.`),
    );
    return waits ? ' It waits for a restart: gateway stop, then gateway serve' : ' The daemon has read it.';
  } catch {
    return ' The daemon could not be told: gateway reload';
  }
}
