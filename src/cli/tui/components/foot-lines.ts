import { visibleCell } from '../../output/visible.ts';
import { widthOf } from '../../output/width.ts';
import { keysOf } from '../keys/bindings.ts';
import type { CommandName } from '../keys/command-names.ts';
import { shownKey } from '../keys/key-name.ts';
import { applies } from '../model/applies.ts';
import type { LineDialog } from '../model/dialog.ts';
import type { TuiModel } from '../model/tui-model.ts';
import type { Drawing } from '../screen.ts';
import { broken } from '../text/cells.ts';
import { fitPainted, paintedWidth } from '../text/painted.ts';

const words: Partial<Record<CommandName, string>> = {
  open: 'open',
  back: 'back',
  pause: 'pause',
  filter: 'filter',
  copy: 'copy',
  'copy-command': 'as command',
  compose: 'new',
  edit: 'limits',
  reply: 'reply',
  mark: 'mark',
  refresh: 'refresh',
  'next-tab': 'next tab',
  help: 'help',
  palette: 'command',
  go: 'go',
  quit: 'quit',
};

/** The last line: the keys that work now. */
export function keysLine(model: TuiModel, { width, paint }: Drawing): string {
  const hints = hintsOf(model).map(([key, word]) => `${paint('bold', key)} ${word}`);
  while (hints.length > 1 && paintedWidth(hints.join('  ')) > width) hints.splice(-3, 1);
  return fitPainted(hints.join('  '), width);
}

function hintsOf(model: TuiModel): [key: string, word: string][] {
  const { dialog, view, pages, options } = model;
  if (dialog?.kind === 'confirm') {
    return [
      ['Tab', 'change'],
      ['Enter', 'choose'],
      ['y', dialog.verb.toLowerCase()],
      ['Esc', 'leave'],
    ];
  }
  if (dialog) {
    return [
      ['Enter', 'do'],
      ...(dialog.candidates ? [['Tab', 'complete'] as [string, string]] : []),
      ['Esc', 'leave'],
    ];
  }
  if (model.isGoing) return model.views.map(({ screen }) => [screen.letter, screen.title]);
  const names: CommandName[] =
    pages.length > 0
      ? ['back', 'copy', 'help', 'quit']
      : [...view.screen.footer.filter((name) => applies(model, name)), 'go', 'palette', 'help', 'quit'];
  return names.flatMap((name): [string, string][] => {
    const [key] = keysOf(options.bindings, view.screen.id, name);
    const word = name === 'remove' ? view.screen.remove?.verb.toLowerCase() : words[name];
    return key === undefined ? [] : [[shownKey(key), word ?? name]];
  });
}

interface SaidLine {
  lines: string[];
  /** Where the cursor of the terminal is, in cells from the left of the last line; undefined where nobody writes. */
  cursor: number | undefined;
}

const candidatesMax = 6;
const faultLinesMax = 4;

/** The lines above the keys: what is asked, written or said. The last one is always there. */
export function saidLines(model: TuiModel, drawing: Drawing): SaidLine {
  const { dialog, notice } = model;
  const { width, paint } = drawing;
  if (!dialog)
    return { lines: [fitPainted(paint('yellow', visibleCell(notice ?? '')), width)], cursor: undefined };
  if (dialog.kind === 'confirm') {
    const button = (text: string, isChosen: boolean) =>
      isChosen ? paint('inverse', `[>${text}<]`) : `[ ${text} ]`;
    const buttons = `${button('Cancel', !dialog.isYes)} ${button(dialog.verb, dialog.isYes)}`;
    return {
      lines: [fitPainted(visibleCell(dialog.question), width), fitPainted(buttons, width)],
      cursor: undefined,
    };
  }
  return writtenLines(dialog, drawing);
}

function writtenLines(dialog: LineDialog, { width, paint }: Drawing): SaidLine {
  const above = (dialog.candidates?.(dialog.edit.text) ?? [])
    .slice(0, candidatesMax)
    .map((line) => fitPainted(`  ${line}`, width));
  const fault = dialog.fault ? broken(`! ${visibleCell(dialog.fault)}`, width) : [];
  above.push(...fault.slice(0, faultLinesMax).map((line) => fitPainted(paint('red', line), width)));
  const label = dialog.label.length > 1 ? `${dialog.label}: ` : dialog.label;
  if (dialog.isBusy) return { lines: [...above, fitPainted(`${label}…`, width)], cursor: undefined };
  const { text, cursor } = dialog.edit;
  const room = width - widthOf(label) - 1;
  const before = visibleCell(text.slice(0, cursor));
  // A line that is too long is seen around the cursor.
  const skipped = Math.max(0, [...before].length - room);
  const seen = [...visibleCell(text)].slice(skipped).join('');
  const shown = text === '' ? paint('dim', dialog.hint) : seen;
  return {
    lines: [...above, fitPainted(label + shown, width)],
    cursor: widthOf(label) + widthOf([...before].slice(skipped).join('')),
  };
}
