import { theme } from '../data/preferences.ts';
import { hrefOf } from '../data/route.ts';
import { AccountMenu } from './account.tsx';

interface NavigationProps {
  screens: readonly { name: string; title: string; key: string }[];
  /** The name of the open screen. */
  current: string;
  onHelp: () => void;
}

const themes = { system: 'light', light: 'dark', dark: 'system' } as const;

export function Navigation({ screens, current, onHelp }: NavigationProps) {
  const next = themes[theme.value as keyof typeof themes] ?? 'system';
  return (
    <header class="side">
      <a class="brand" href="#/">
        <span class="mark" aria-hidden="true" />
        Gateway
      </a>
      <nav aria-label="Screens">
        {screens.map(({ name, title, key }) => (
          <a
            key={name}
            href={hrefOf(name)}
            aria-current={name === current ? 'page' : undefined}
            title={`g ${key}`}
          >
            {title}
          </a>
        ))}
      </nav>
      <div class="side-end">
        <button type="button" class="quiet-button is-minor" title="?" onClick={onHelp}>
          Keyboard
        </button>
        <a href="docs">API reference</a>
        <button
          type="button"
          class="quiet-button"
          onClick={() => {
            theme.value = next;
          }}
        >
          Theme: {theme.value}
        </button>
        <AccountMenu />
      </div>
    </header>
  );
}
