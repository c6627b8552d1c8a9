import { openApi } from '../../../shared/endpoints.ts';
import { duration } from '../../../view/durations.ts';
import { clockTime } from '../../../view/times.ts';
import type { CommandIndex } from '../../context.ts';
import type { LoggedCall } from '../services/api-call-log.ts';
import type { Services } from '../services/services.ts';
import { untrustedLines } from '../text/cells.ts';
import type { ListColumn } from '../text/list-table.ts';
import { asCommand, asCurl } from './call-as-shell.ts';
import type { Screen } from './screen.ts';

interface ApiCallsOptions {
  baseUrl: () => string;
  workspace: string | undefined;
  commands: CommandIndex;
}

/** The API calls that this program made, each of which can be copied as a command. */
export function apiCallsScreen({ baseUrl, workspace, commands }: ApiCallsOptions): Screen<LoggedCall> {
  const curl = (call: LoggedCall) => asCurl(call, { baseUrl: baseUrl(), workspace });
  const commandOf = (call: LoggedCall) => asCommand(call, commands);
  const details = (call: LoggedCall, width: number) => {
    const command = commandOf(call);
    const lines = [...(command ? [command, ''] : []), ...untrustedLines(curl(call), width)];
    if (call.requestId) lines.push('', call.requestId);
    return lines;
  };
  return {
    id: 'log',
    title: 'API calls',
    letter: 'a',
    aliases: ['api', 'calls-made', '@'],
    empty: ['No calls yet.'],
    footer: ['open', 'copy', 'copy-command', 'browse', 'filter'],
    columns: () => [...columns, commandColumn(commandOf)],
    live: ({ log }) => log.rows(),
    idOf: ({ number }) => String(number),
    copyText: curl,
    commandText: commandOf,
    json: (call) => call,
    reference: referenceOf,
    preview: (call, { width }) => details(call, width),
    open: async (call) => ({
      title: `${call.method} ${call.path}`,
      lines: ({ width }) => details(call, width),
      copy: curl(call),
    }),
  };
}

/** The path of the call's endpoint in the API reference. */
async function referenceOf({ method, template }: LoggedCall, { client }: Services): Promise<string> {
  const { paths } = (await client.call(openApi, {})) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  // OpenAPI has no parameters of several segments.
  const operation = paths[template.replace('...}', '}')]?.[method.toLowerCase()];
  return operation ? `/docs#${operation.operationId}` : '/docs';
}

const columns: ListColumn<LoggedCall>[] = [
  { title: 'time', width: 8, text: ({ at }) => clockTime(new Date(at).toISOString()) },
  { title: 'method', width: 6, text: ({ method }) => method },
  { title: 'path', width: 24, grows: true, text: ({ path }) => path },
  {
    title: 'outcome',
    width: 15,
    text: ({ outcome }) => outcome,
    style: ({ outcome }) => (/^(ok|open|ended|running)$/.test(outcome) ? 'green' : 'red'),
  },
  {
    title: 'took',
    width: 7,
    align: 'right',
    spare: 1,
    text: ({ tookMs }) => (tookMs === null ? '' : duration(tookMs)),
  },
];

function commandColumn(commandOf: (call: LoggedCall) => string | undefined): ListColumn<LoggedCall> {
  return { title: 'command', width: 30, spare: 2, text: (call) => commandOf(call) ?? '–' };
}
