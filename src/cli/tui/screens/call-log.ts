import { openApi } from '../../addresses.ts';
import { clockTime, duration } from '../../output/time.ts';
import { asCommand, asCurl } from '../call-log/as-typed-again.ts';
import type { LoggedCall } from '../call-log/call-log.ts';
import type { Screen, ScreenColumn, Services } from '../screen.ts';
import { foreignLines } from '../text/cells.ts';

interface Place {
  /** Where calls go now. */
  baseUrl: () => string;
  workspace: string | undefined;
}

/** The calls that this program made, each to be copied and made by hand. */
export function callLogScreen({ baseUrl, workspace }: Place): Screen<LoggedCall> {
  const curl = (call: LoggedCall) => asCurl(call, { baseUrl: baseUrl(), workspace });
  const aside = (call: LoggedCall, width: number) => {
    const command = asCommand(call);
    const lines = [...(command ? [command, ''] : []), ...foreignLines(curl(call), width)];
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
    columns: () => columns,
    live: ({ log }) => log.rows(),
    idOf: ({ number }) => String(number),
    copyText: curl,
    commandText: asCommand,
    json: (call) => call,
    reference: referenceOf,
    aside: (call, { width }) => aside(call, width),
    open: async (call) => ({
      title: `${call.method} ${call.path}`,
      lines: ({ width }) => aside(call, width),
      copy: curl(call),
    }),
  };
}

/** The place of the call's endpoint on the page of the API reference. */
async function referenceOf({ method, template }: LoggedCall, { client }: Services): Promise<string> {
  const { paths } = (await client.call(openApi, {})) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  // The description knows no parameter of several segments.
  const operation = paths[template.replace('...}', '}')]?.[method.toLowerCase()];
  return operation ? `/docs#${operation.operationId}` : '/docs';
}

const columns: ScreenColumn<LoggedCall>[] = [
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
  { title: 'command', width: 30, spare: 2, text: (call) => asCommand(call) ?? '–' },
];
