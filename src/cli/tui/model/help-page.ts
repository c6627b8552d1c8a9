import { keysOf } from '../keys/bindings.ts';
import { type CommandName, commands } from '../keys/command-names.ts';
import { shownKey } from '../keys/key-name.ts';
import type { Page } from '../screen.ts';
import { fitCell } from '../text/cells.ts';
import { applies } from './applies.ts';
import type { TuiModel } from './tui-model.ts';

/** The keys of the screen that is shown, with what they do; keys that were taken away are not among them. */
export function helpPage(model: TuiModel): Page {
  const { screen } = model.view;
  const { bindings } = model.options;
  const names = (Object.keys(commands) as CommandName[]).filter(
    (name) => !/^screen-/.test(name) && applies(model, name),
  );
  const linesOf = (some: CommandName[]) =>
    some.flatMap((name) => {
      const keys = keysOf(bindings, screen.id, name).map(shownKey);
      return keys.length === 0 ? [] : [`${fitCell(keys.join('  '), 18)}  ${whatFor(model, name)}`];
    });
  const own = names.filter((name) => ownCommands.includes(name));
  // What only this screen has goes first: it is what people look for.
  const lines = [...linesOf(own), '', ...linesOf(names.filter((name) => !own.includes(name)))];
  const go = model.views.map(({ screen: one }) => `${one.letter} ${one.title}`).join(', ');
  const marks = '❯ the selected row   * a marked row';
  return { title: `Keys of ${screen.title}`, lines: () => [...lines, '', `After g: ${go}`, marks] };
}

const ownCommands: CommandName[] = [
  'open',
  'compose',
  'edit',
  'reply',
  'conversation',
  'remove',
  'mark',
  'pause',
  'copy',
  'copy-command',
  'raw',
];

function whatFor(model: TuiModel, name: CommandName): string {
  const { screen } = model.view;
  if (name === 'compose') return screen.compose?.label ?? commands.compose;
  if (name === 'edit') return screen.edit?.label ?? commands.edit;
  if (name === 'reply') return model.reply()?.label ?? commands.reply;
  if (name === 'remove') return screen.remove ? `${screen.remove.verb.toLowerCase()}, after a question` : '';
  return commands[name];
}
