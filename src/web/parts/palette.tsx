import { useSignal } from '@preact/signals';
import { callsHref } from '../data/calls-link.ts';
import { theme } from '../data/preferences.ts';
import { hrefOf, navigate } from '../data/route.ts';
import { Dialog } from './dialog.tsx';

interface PaletteProps {
  screens: readonly { name: string; title: string; key: string }[];
  onClose: () => void;
}

interface Command {
  title: string;
  hint?: string;
  run: () => void;
}

const listId = 'palette-list';
const optionId = (index: number) => `palette-${index}`;

/** Goes to a screen, a call or a search by typing: `Ctrl-K`. */
export function Palette({ screens, onClose }: PaletteProps) {
  const text = useSignal('');
  const selected = useSignal(0);
  const commands = commandsFor(text.value.trim(), screens);
  const at = Math.min(selected.value, commands.length - 1);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="palette-input"
        role="combobox"
        aria-label="Screen, request ID or text"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={optionId(at)}
        placeholder="A screen, a request ID, or words of a prompt"
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          selected.value = 0;
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) selected.value = (at + step + commands.length) % commands.length;
          else if (event.key === 'Enter') run(commands[at]);
          else return;
          event.preventDefault();
        }}
      />
      <div class="palette" id={listId} role="listbox" aria-label="Where to go">
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are read by the input, which keeps the focus.
          <div
            key={command.title}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => run(command)}
          >
            {command.title}
            {command.hint && <kbd>{command.hint}</kbd>}
          </div>
        ))}
      </div>
    </Dialog>
  );
}

/** The commands that match the text, and a search for it, so never none. */
function commandsFor(text: string, screens: PaletteProps['screens']): Command[] {
  if (/^req_\w+$/.test(text))
    return [{ title: `Call ${text}`, run: () => navigate(hrefOf('calls', [text])) }];
  const fixed: Command[] = [
    ...screens.map(({ name, title, key }) => ({
      title,
      hint: `g ${key}`,
      run: () => navigate(hrefOf(name)),
    })),
    ...(['light', 'dark', 'system'] as const).map((name) => ({
      title: `Theme: ${name}`,
      run: () => {
        theme.value = name;
      },
    })),
  ];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = fixed.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)));
  if (text === '') return found;
  const quoted = JSON.stringify(text);
  return [...found, { title: `Calls with ${quoted}`, run: () => navigate(callsHref({ text })) }];
}
