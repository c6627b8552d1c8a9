import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { whisperColumns } from './columns.ts';
import { listWhispersOf } from './list-whispers.ts';
import { whisperLine } from './whisper-line.ts';

export const whisperThreadCommand = (context: Context) =>
  new Command('thread')
    .argument('<person>', 'the handle or id of a person')
    .option('--limit <count>', 'at most so many, the newest', wholeNumber({ min: 1 }), 50)
    .addHelpText('after', example('gateway whispers thread ann'))
    .action(async (person, { limit }) => {
      const found = await listWhispersOf(context, { person, limit });
      // As it was said, from the top.
      const whispers = found.toReversed();
      const { out } = context;
      if (out.wantsJson() || out.isQuiet())
        return out.table(whispers, whisperColumns(context.now()), { empty: '' });
      if (whispers.length === 0) out.note('No whispers.');
      for (const whisper of whispers) context.io.stdout.write(whisperLine(whisper, context));
    });
