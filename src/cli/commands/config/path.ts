import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { placeOf } from './place.ts';

export const configPathCommand = (context: Context) =>
  new Command('path').addHelpText('after', example('$EDITOR "$(gateway config path)"')).action(async () => {
    const tools = await (await context.daemon()).loadConfigTools();
    const file = tools.path(placeOf(context, undefined));
    if (context.out.wantsJson()) return context.out.document({ file });
    context.out.text(`${file}\n`);
  });
