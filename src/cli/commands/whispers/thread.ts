import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
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
      if (context.out.wantsJson()) return context.out.document(whispers);
      if (whispers.length === 0) context.out.note('No whispers.');
      for (const whisper of whispers) context.io.stdout.write(whisperLine(whisper, context));
    });
