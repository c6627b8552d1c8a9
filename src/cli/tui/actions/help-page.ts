import { wrapLine } from '../../output/wrap-line.ts';
import { type CommandName, commands, keysOf, screenDigit } from '../keys/bindings.ts';
import { keyLabel } from '../keys/key-name.ts';
import type { Page } from '../screens/screen.ts';
import type { TuiState } from '../state/tui-state.ts';
import { fitCell } from '../text/cells.ts';

/** The keys of the current screen. */
export function helpPage(state: TuiState): Page {
  const { screen } = state.view;
  const { bindings } = state.options;
  const names = (Object.keys(commands) as CommandName[]).filter(
    (name) => !/^screen-/.test(name) && state.isAvailable(name),
  );
  const linesOf = (some: CommandName[]) =>
    some.flatMap((name) => {
      const keys = keysOf(bindings, screen.id, name).map(keyLabel);
      return keys.length === 0 ? [] : [`${fitCell(keys.join('  '), 18)}  ${descriptionOf(state, name)}`];
    });
  const own = names.filter((name) => screenCommands.includes(name));
  const lines = [...linesOf(own), '', ...linesOf(names.filter((name) => !own.includes(name)))];
  const screens = state.views.map(({ screen: { letter, title } }, index) =>
    `${screenDigit(index)} g${letter} ${title}`.trimStart(),
  );
  const marks = '❯ selected row   * marked row';
  return {
    title: `Keys of ${screen.title}`,
    lines: ({ width }) => [...lines, '', ...wrapLine(`Screens: ${screens.join(' · ')}`, width), marks],
  };
}

/** Shown first: what users look for on this screen. */
const screenCommands: CommandName[] = [
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

/** What commands do on a page, where that differs. */
const onPage: Partial<Record<CommandName, string>> = {
  filter: 'search the page',
  open: 'show or fold the system prompt',
  mark: 'page down',
  'next-pane': 'the tab in its other form',
  'next-tab': 'open the next row',
  'previous-tab': 'open the previous row',
  down: 'one line down',
  up: 'one line up',
};

function descriptionOf(state: TuiState, name: CommandName): string {
  const { screen } = state.view;
  const { front } = state.pages;
  if (front?.page.tabs && /-tab$/.test(name)) return commands[name].replace(' or screen', '');
  if (front && Object.hasOwn(onPage, name)) return onPage[name] ?? commands[name];
  if (name === 'compose') return screen.compose?.label ?? commands.compose;
  if (name === 'edit') return screen.edit?.label ?? commands.edit;
  if (name === 'reply') return state.reply()?.label ?? commands.reply;
  if (name === 'remove') return screen.remove ? `${screen.remove.verb.toLowerCase()} (asks first)` : '';
  return commands[name];
}
