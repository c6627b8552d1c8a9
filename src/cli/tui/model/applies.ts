import { type CommandName, commands } from '../keys/command-names.ts';
import type { TuiModel } from './tui-model.ts';

/** Whether a command does something on the screen that is shown; the help lists only these. */
export function applies(model: TuiModel, command: CommandName): boolean {
  const { screen } = model.view;
  if (command === 'compose') return screen.compose !== undefined;
  if (command === 'edit') return screen.edit !== undefined;
  if (command === 'reply') return model.reply() !== undefined;
  if (command === 'remove') return screen.remove !== undefined;
  if (command === 'conversation') return screen.conversation !== undefined;
  if (command === 'copy-command') return screen.commandText !== undefined;
  return Object.hasOwn(commands, command);
}
