import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type { rotateKey as rotateKeyContract } from '../../../shared/contract/keys.ts';
import { rotateKey, showKey } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { dataFiles, foldersOf } from '../../../shared/folders.ts';
import { hintOf } from '../../../shared/secrets.ts';
import { exactTime } from '../../../view/times.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { isTransient } from '../../hosts/is-transient.ts';
import { readSecret } from '../../hosts/local-daemon.ts';
import { asGiven, resolveKey, resolveWorkspace } from '../../names/resolve.ts';
import { example, yesOption } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { confirm } from '../../terminal/prompts.ts';
import { spanOption } from '../../times.ts';
import { prepareSecretFile, secretIn } from './secret-file.ts';

const dayMs = 86_400_000;
const graceMsMax = 90 * dayMs;
/** How often a command that rotates periodically looks at the key, which others can rotate, too. */
const lookEveryMs = 3_600_000;
const retryMs = 30_000;

export const rotateKeyCommand = (context: Context) =>
  new Command('rotate')
    .argument('<key>', "the key's id (key_…) or name")
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .option(
      '--grace <duration>',
      'how long the old secret still works, like 1h or 7d; without it, it ends at once',
      spanOption,
    )
    .option('--to <file>', 'replace this file, which only you can read, instead of printing the secret')
    .option(
      '--every <duration>',
      'keep running, and rotate whenever the secret is older, like 30d; the old one works for a day unless --grace says otherwise',
      spanOption,
    )
    .addOption(yesOption())
    .addHelpText('after', example('gateway keys rotate my-app --grace 1h'))
    .action(async (key, { workspace: given, grace, to, every, yes }) => {
      const graceMs = grace ?? (every === undefined ? 0 : Math.min(dayMs, every / 2));
      checkPeriods({ graceMs, every, to });
      const workspace = await resolveWorkspace(context, given);
      const id = await resolveKey(context, { workspace, key });
      const rotation: Rotation = { workspace, id, name: asGiven(key, id), graceMs };
      if (every !== undefined && to !== undefined) return keepRotating(context, rotation, { every, to });
      if (graceMs === 0) {
        const question = `Rotate ${rotation.name}? Its old secret ends at once, and so do calls that run with it.`;
        await confirm(context, question, { yes });
      }
      if (to === undefined) return showSecret(context, await rotate(context, rotation));
      noteRotated(context, rotation, await rotateInto(context, rotation, to));
    });

interface Rotation {
  workspace: string;
  id: string;
  /** As users know the key. */
  name: string;
  graceMs: number;
}

type Rotated = Result<typeof rotateKeyContract>;

function checkPeriods({
  graceMs,
  every,
  to,
}: {
  graceMs: number;
  every?: number | undefined;
  to?: string | undefined;
}) {
  const fault = (message: string) => new CliError(message, { exit: exitCodes.usage });
  if (graceMs > graceMsMax) throw fault('--grace must be at most 90d.');
  if (every === undefined) return;
  if (to === undefined) throw fault('--every needs --to FILE, where programs read the secret.');
  if (every < 60_000) throw fault('--every must be at least 1m.');
  if (graceMs <= 0 || graceMs >= every)
    throw fault(
      '--grace must be shorter than --every, and not zero, so that programs have time to read the file.',
    );
}

async function rotate(context: Context, { workspace, id, graceMs }: Rotation): Promise<Rotated> {
  const rotated = await context.client().call(rotateKey, {
    params: { workspace, key: id },
    body: { grace_seconds: Math.round(graceMs / 1000) },
  });
  keepDefaultKey(context, rotated);
  return rotated;
}

/** Rotates once the file can be replaced: a secret that could not be stored would be lost. */
async function rotateInto(context: Context, rotation: Rotation, path: string): Promise<Rotated> {
  const file = prepareSecretFile(path);
  try {
    const rotated = await rotate(context, rotation);
    file.write(rotated.secret);
    return rotated;
  } finally {
    file.leave();
  }
}

/** The key of the first start is read from a file of this machine. */
function keepDefaultKey(context: Context, { previous, secret }: Rotated): void {
  if (!context.host().isLocal) return;
  const known = readSecret(context, dataFiles.defaultKey);
  if (known === undefined || hintOf(known) !== previous.hint) return;
  prepareSecretFile(join(foldersOf(context).data, dataFiles.defaultKey)).write(secret);
}

/** Piped, it prints the id, a tab and the secret; with --quiet only the secret. */
async function showSecret(context: Context, rotated: Rotated): Promise<void> {
  const now = context.now();
  const until: Column<Rotated> = {
    title: 'old_secret_until',
    value: ({ previous }) => previous.ends_at,
    show: ({ previous }) => (Date.parse(previous.ends_at) > now ? exactTime(previous.ends_at) : 'ended'),
  };
  await context.out.record(rotated, [id, name, secret, until], { pipedRow: [id, secret], shownOnce: secret });
  context.out.note('Save the secret now: it is not shown again.');
}

const id: Column<Rotated> = { title: 'id', value: ({ key }) => key.id };
const name: Column<Rotated> = { title: 'name', value: ({ key }) => key.name };
const secret: Column<Rotated> = {
  title: 'secret',
  value: (rotated) => rotated.secret,
  style: () => 'bold',
  essential: true,
};

function noteRotated(context: Context, { name: keyName }: Rotation, { previous }: Rotated): void {
  const ends = Date.parse(previous.ends_at);
  const old = ends > context.now() ? `works until ${exactTime(previous.ends_at)}` : 'has ended';
  context.out.note(`Rotated ${keyName}. Its old secret ${old}.`);
}

/**
 * Rotates when the secret is old enough, and whenever the file does not have the key's secret: at the start, and after this
 * command was stopped between the rotation and the file. What it needs to know is with the key, so that it can be restarted.
 */
async function keepRotating(
  context: Context,
  rotation: Rotation,
  { every, to }: { every: number; to: string },
): Promise<void> {
  const { workspace, id: key, name: keyName } = rotation;
  const signal = context.interrupted();
  context.out.note(`Rotating ${keyName} into ${to}. Press Ctrl-C to stop.`);
  let isLost = false;
  while (!signal.aborted) {
    let waitMs = retryMs;
    try {
      const shown = await context.client().call(showKey, { params: { workspace, key } });
      if (shown.status === 'revoked')
        throw new CliError(`${keyName} was revoked.`, { exit: exitCodes.failed });
      const held = secretIn(to);
      const isHeld = held !== undefined && hintOf(held) === shown.hint;
      const dueAt = isHeld ? Date.parse(shown.rotated_at ?? shown.created_at) + every : 0;
      if (dueAt <= context.now()) {
        noteRotated(context, rotation, await rotateInto(context, rotation, to));
        waitMs = 0;
      } else {
        waitMs = Math.min(dueAt - context.now(), lookEveryMs);
      }
      isLost = false;
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (!isLost) context.out.warn('The daemon cannot be reached; trying again.');
      isLost = true;
      context.forgetHost();
    }
    if (waitMs > 0) await context.sleep(waitMs, signal).catch(() => {});
  }
  context.exit = exitCodes.interrupted;
}
