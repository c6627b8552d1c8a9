import { Command } from '@commander-js/extra-typings';
import type { EventView } from '../../shared/contract/events.ts';
import { listFirings, streamEvents } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { clockTime } from '../../view/times.ts';
import type { Context } from '../context.ts';
import { example, wholeNumber } from '../options.ts';
import { escapeCell } from '../output/escape-controls.ts';
import { runWithInput } from '../terminal/run-with-input.ts';
import { follow } from './follow.ts';

export const watchAlertsCommand = (context: Context) =>
  new Command('watch')
    .option(
      '--exec <command>',
      'run this for what fires already and for each event: it gets the event as JSON on its standard input, and as ' +
        'GATEWAY_ALERT (the name), GATEWAY_ALERT_EVENT (alert.fired or alert.resolved), GATEWAY_ALERT_KIND, ' +
        'GATEWAY_ALERT_VALUE, GATEWAY_ALERT_THRESHOLD and GATEWAY_ALERT_MESSAGE',
    )
    .option('--after <sequence>', 'start after this event instead of now', wholeNumber({ min: 0 }))
    .addHelpText('after', example(`gateway alerts watch --exec 'notify-send "$GATEWAY_ALERT_MESSAGE"'`))
    .action(async ({ exec, after }) => {
      // What fires already is shown before what happens next.
      let listed: Promise<void> | undefined;
      const seen = new Set<string>();
      await follow(context, {
        open: (lastId, options) =>
          context.client().stream(
            streamEvents,
            {
              query: { type: 'alert.*', after: lastId === undefined ? after : undefined },
              headers: { 'last-event-id': lastId },
            },
            options,
          ),
        async show({ data }) {
          const event = JSON.parse(data) as EventView;
          await listed;
          // It may have fired after the stream was opened, and before the firings were listed.
          if (event.type === 'alert.fired' && seen.delete(String(event.data.firing))) return;
          await showEvent(context, event);
          if (exec !== undefined && event.type.startsWith('alert.')) await runFor(context, event, exec);
        },
        onFirst() {
          // A reader that resumes gets the events of what fired meanwhile, and has seen the others.
          listed = showFiring(context, after === undefined ? { exec, seen } : {});
        },
      });
      context.exit = exitCodes.interrupted;
    });

interface Firing {
  /** The command to run for each. */
  exec?: string | undefined;
  /** Takes the ids of the firings. */
  seen?: Set<string>;
}

/** Shows, for people, what fires already, and runs the command for it as for its event. */
async function showFiring(context: Context, { exec, seen }: Firing): Promise<void> {
  if (context.out.wantsJson() && exec === undefined) return;
  const input = { params: { workspace: 'me' }, query: { open: true } };
  const firing = await context
    .client()
    .call(listFirings, input)
    .catch(() => undefined);
  if (!firing && exec !== undefined) context.out.warn('What fires already could not be read.');
  for (const { id, object: _object, resolved_value: _value, ...data } of firing?.data.toReversed() ?? []) {
    const { alert, fired_at: at, message } = data;
    seen?.add(id);
    if (!context.out.wantsJson()) showLine(context, { alert, at, message, isFiring: true });
    if (exec === undefined) continue;
    const event = { type: 'alert.fired', sequence: null, created_at: at, data: { ...data, firing: id } };
    await runFor(context, event, exec);
  }
}

interface Shown {
  alert: string;
  at: string;
  message: unknown;
  isFiring: boolean;
}

function showLine({ out, io }: Context, { alert, at, message, isFiring }: Shown): void {
  const painted = out.paint.stdout(isFiring ? 'red' : 'green', isFiring ? 'firing  ' : 'resolved');
  const text = [alert, message].filter((part) => typeof part === 'string').join('  ');
  io.stdout.write(`${clockTime(at)}  ${painted}  ${escapeCell(text)}\n`);
}

async function showEvent(context: Context, event: EventView): Promise<void> {
  const { out } = context;
  if (out.wantsJson()) return out.element(event);
  const { type, created_at: at, data } = event;
  const { alert, message } = data;
  if (typeof alert === 'string') showLine(context, { alert, at, message, isFiring: type === 'alert.fired' });
  else out.note('Some earlier events are no longer stored: gateway alerts fired');
}

/** Runs a command of the user's. What an event says is never part of its text, so that it cannot become a command itself. */
async function runFor(context: Context, event: EventView, command: string): Promise<void> {
  const { type, data } = event;
  const env: Record<string, string> = { GATEWAY_ALERT_EVENT: type };
  for (const name of ['alert', 'kind', 'value', 'threshold', 'message'] as const) {
    const member = data[name];
    if (typeof member === 'string')
      env[name === 'alert' ? 'GATEWAY_ALERT' : `GATEWAY_ALERT_${name.toUpperCase()}`] = member;
  }
  const code = await runWithInput(command, {
    input: `${JSON.stringify(event)}\n`,
    env: { ...context.env, ...env },
    signal: context.interrupted(),
  });
  if (code !== 0) context.out.warn(`The command ended with ${code}: ${command}`);
}
