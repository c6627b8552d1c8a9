import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { readAllWhispers, readWhisper } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';

export const readWhisperCommand = (context: Context) =>
  new Command('read')
    .argument('[id]', 'the id of a whisper to you', wholeNumber({ min: 1 }))
    .option('--all', 'all whispers to you')
    .option('--with <person>', 'all from this person, by handle or id')
    .addHelpText('after', example('gateway whispers read --with ann'))
    .action(async (id, { all, with: person }) => {
      if ((id === undefined) === (all === undefined && person === undefined)) {
        throw new CliError('Name one whisper, or say --all or --with PERSON.', { exit: exitCodes.usage });
      }
      if (id !== undefined) {
        const { data } = await context.client().call(readWhisper, { params: { id } });
        if (context.out.wantsJson()) return context.out.document(data);
        return context.out.note(`Read ${data.id}, from ${data.sender.handle}.`);
      }
      const { data } = await context.client().call(readAllWhispers, { query: { with: person } });
      if (context.out.wantsJson()) return context.out.document(data);
      context.out.note(`Read ${data.readCount}.`);
    });
