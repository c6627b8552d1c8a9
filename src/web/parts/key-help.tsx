import { Dialog } from './dialog.tsx';

interface KeyHelpProps {
  screens: readonly { title: string; key: string }[];
  onClose: () => void;
}

type Keys = readonly (readonly [keys: string, meaning: string])[];

const everywhere: Keys = [
  ['Ctrl-K', 'go to a screen, a call or a search'],
  ['?', 'these keys'],
];
const lists: Keys = [
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['/', 'filter'],
  ['D', 'compare the two marked calls'],
  ['p', 'pause Live'],
];
const call: Keys = [
  [']  [', 'next and previous tab'],
  ['j  k', 'next and previous call'],
  ['r', 'replay in the Playground'],
  ['Esc', 'back to the list'],
];

/** The keys of all screens: `?`. */
export function KeyHelp({ screens, onClose }: KeyHelpProps) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="key-help">
        <Group title="Everywhere" keys={everywhere} />
        <Group title="Lists" keys={lists} />
        <Group title="A call" keys={call} />
        <Group title="Screens" keys={screens.map(({ title, key }) => [`g ${key}`, title] as const)} />
      </div>
    </Dialog>
  );
}

function Group({ title, keys }: { title: string; keys: Keys }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              {key.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
