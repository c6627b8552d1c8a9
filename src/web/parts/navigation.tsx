import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
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
  const isOpen = useSignal(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another screen closes it.
  useEffect(() => {
    isOpen.value = false;
  }, [current]);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen.value) return;
    const close = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      isOpen.value = false;
      button.current?.focus();
    };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [isOpen.value, isOpen]);
  const title = screens.find(({ name }) => name === current)?.title ?? 'Menu';
  const next = themes[theme.value as keyof typeof themes] ?? 'system';
  return (
    <header class={isOpen.value ? 'side is-open' : 'side'}>
      <a class="brand" href="#/">
        <span class="mark" aria-hidden="true" />
        Gateway
      </a>
      <button
        ref={button}
        type="button"
        class="menu-button"
        aria-expanded={isOpen.value}
        aria-label={`Menu: ${title}`}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {title} <span aria-hidden="true">☰</span>
      </button>
      <nav aria-label="Screens">
        {screens.map(({ name, title, key }) => (
          <a
            key={name}
            href={hrefOf(name)}
            aria-current={name === current ? 'page' : undefined}
            title={`g ${key}`}
            onClick={() => {
              isOpen.value = false;
            }}
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
