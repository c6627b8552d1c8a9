import { Argument, Command } from '@commander-js/extra-typings';
import { scripts, shells } from '../completion/scripts.ts';
import type { Context } from '../context.ts';
import { example } from '../manifest/options.ts';

export const completionCommand = (context: Context) =>
  new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(shells))
    .addHelpText('after', example('source <(gateway completion bash)'))
    .action((shell) => void context.io.stdout.write(scripts[shell]));
