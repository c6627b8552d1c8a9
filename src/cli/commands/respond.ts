import { Argument, Command, Option } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { example } from './example.ts';
import { wholeNumber } from './number-option.ts';
import { picturesOption } from './respond/pictures.ts';
import { respondAndShow } from './respond/respond.ts';

// Not `<path...>`: that would take the prompt for one more file.
const collect = (path: string, paths: string[] = []): string[] => [...paths, path];

export const respondCommand = (context: Context) =>
  new Command('respond')
    .addArgument(new Argument('[prompt...]', 'what to ask; piped input is put after it'))
    .option('-m, --model <model>', 'the model to ask; else GATEWAY_MODEL, else the daemon’s default')
    .option('--stream', 'write the answer as it comes, as on a terminal; with --json an event a line')
    .option('--no-stream', 'ask for the whole answer at once')
    .option('-i, --instructions <text>', 'instructions that stand before the prompt')
    .option('--json-schema <file>', 'a JSON schema that the answer must fit')
    .option('-f, --file <path>', 'an image, PDF or text to ask about; can be repeated', collect)
    .option(...picturesOption)
    .option('--tools <file>', 'a JSON list of the functions that the model may call')
    .option('--max-output-tokens <count>', 'the longest answer, reasoning included', wholeNumber({ min: 1 }))
    .option('--reasoning-effort <effort>', 'how long a reasoning model thinks, like low or high')
    .addOption(new Option('--pay <whose>', 'whose provider key pays').choices(['mine', 'ours'] as const))
    .addOption(
      new Option('--cache <mode>', 'whether the answer may come from the cache, and is kept there').choices([
        'off',
        'read-only',
        'read-write',
      ] as const),
    )
    .option('--store', 'keep the response, as is usual')
    .option('--no-store', 'do not keep the response')
    .option('--background', 'have it made without waiting: prints its id, or with --stream its events')
    .option(
      '--idempotency-key <key>',
      'make the call once, however often it is sent with this key; not streamed',
    )
    .option('--previous <id>', 'the response that this one continues')
    .option('--thread <thread>', 'the thread that this is said in; `new` makes one and tells its id')
    .option('-n, --no-stdin', 'leave the standard input alone')
    .addHelpText(
      'after',
      example('git diff | gateway respond "Write a commit message." --model sim/assistant'),
    )
    .action((words, options) => respondAndShow(context, { prompt: words.join(' '), ...options }));
