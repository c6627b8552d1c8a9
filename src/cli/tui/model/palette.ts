import { type CommandName, commands } from '../keys/command-names.ts';
import { emptyEdit } from '../text/line-edit.ts';
import { applies } from './applies.ts';
import type { LineDialog } from './dialog.ts';
import type { TuiModel } from './tui-model.ts';

interface Entry {
  names: readonly string[];
  summary: string;
  run(rest: string): void;
}

/** The command palette: screens by name or alias, and everything that keys do. */
export function paletteDialog(model: TuiModel): LineDialog {
  const entries = entriesOf(model);
  return {
    kind: 'line',
    label: ':',
    hint: 'a screen or a command; Tab completes',
    edit: emptyEdit,
    fault: undefined,
    isBusy: false,
    candidates: (text) =>
      matching(entries, firstWord(text)).map(({ names, summary, run }) => ({
        name: names[0] ?? '',
        summary,
        run,
      })),
    submit(text, chosen) {
      const word = firstWord(text);
      if (!chosen) throw new Error(`There is no command ${word}.`);
      model.dialog = undefined;
      chosen.run?.(text.trim().slice(word.length).trim());
    },
  };
}

function entriesOf(model: TuiModel): Entry[] {
  const screens = model.views.map(
    ({ screen }, index): Entry => ({
      names: [screen.id, screen.letter, ...screen.aliases],
      summary: `the screen ${screen.title}`,
      run: () => model.show(index),
    }),
  );
  const others = (Object.keys(commands) as CommandName[])
    .filter((name) => !/^(screen-.*|palette|filter|log)$/.test(name) && applies(model, name))
    .map(
      (name): Entry => ({
        names: [name, ...(aliases[name] ?? [])],
        summary: commands[name],
        run: () => model.run(name),
      }),
    );
  const filter: Entry = {
    names: ['filter', 'grep'],
    summary: 'filter TEXT shows only rows with it',
    run: (rest) => model.view.setFilter(rest),
  };
  return [...screens, filter, ...others];
}

const aliases: Partial<Record<CommandName, string[]>> = {
  quit: ['q', 'exit'],
  help: ['h'],
  refresh: ['reload'],
  remove: ['revoke', 'delete'],
  compose: ['new', 'issue'],
  edit: ['limits'],
  raw: ['json'],
};

/** The exact name first, then the beginnings of names, then names that hold the word. */
function matching(entries: Entry[], word: string): Entry[] {
  const wanted = word.toLowerCase();
  const rank = ({ names }: Entry) => {
    if (names.includes(wanted)) return 0;
    if (names.some((name) => name.startsWith(wanted))) return 1;
    return names.some((name) => name.includes(wanted)) ? 2 : 3;
  };
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter(({ rank: found }) => found < 3)
    .sort((one, other) => one.rank - other.rank)
    .map(({ entry }) => entry);
}

function firstWord(text: string): string {
  return text.trim().split(/\s+/)[0] ?? '';
}
