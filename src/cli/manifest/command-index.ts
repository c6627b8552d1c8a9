import type { Address } from '../../shared/client.ts';
import type { CommandIndex, RecordedCall } from '../context.ts';
import type { CommandEntry } from './entry.ts';
import { allCommands } from './manifest.ts';

/** Finds commands by the endpoints they call. */
export const commandIndex: CommandIndex = {
  listCommand(path) {
    const collection = path.replace(/\/\{[^{]*$/, '');
    const found =
      allCommands.find(({ entry }) => entry.lists?.alsoListsPaths?.includes(collection)) ??
      // A path without parameters names nothing that could be missing.
      (collection === path ? undefined : allCommands.find(({ entry }) => isListOf(entry, collection)));
    return found && `gateway ${found.words.join(' ')}`;
  },

  commandLine(call) {
    const found = allCommands.find(({ entry }) =>
      endpointsOf(entry).some(({ method, path }) => method === call.method && path === call.template),
    );
    const options = found && optionsOf(found.entry, call);
    if (!found || !options) return undefined;
    return ['gateway', ...found.words, ...argumentsOf(call, found.words), ...options];
  },
};

function endpointsOf({ endpoint = [] }: CommandEntry): readonly Address[] {
  return 'path' in endpoint ? [endpoint] : endpoint;
}

function isListOf(entry: CommandEntry, collection: string): boolean {
  return endpointsOf(entry).some(({ method, path }) => method === 'GET' && path === collection);
}

/** The parameters of the path; the workspace is an option of every command but those about workspaces. */
function argumentsOf({ template, params }: RecordedCall, [noun]: string[]): string[] {
  const names = [...template.matchAll(/\{(\w+)/g)].map(([, name = '']) => name);
  return names.flatMap((name) => {
    const value = String(params[name] ?? '');
    if (name !== 'workspace' || (noun === 'workspaces' && names.length === 1)) return [value];
    return value === '' || value === 'me' ? [] : ['--workspace', value];
  });
}

/** Undefined if the body has a member that is not an option. Other query members are ignored: they only select a page. */
function optionsOf({ options = [] }: CommandEntry, { query, body }: RecordedCall): string[] | undefined {
  const members = Object.entries((body ?? {}) as Record<string, unknown>).filter(isSet);
  if (members.some(([name]) => !options.includes(name))) return undefined;
  return [...Object.entries(query).filter(isSet), ...members]
    .filter(([name]) => options.includes(name))
    .flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, String(value)]);
}

function isSet([, value]: [string, unknown]): boolean {
  return value !== undefined && value !== null;
}
