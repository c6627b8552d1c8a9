import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface MenuProps {
  label: string;
  children: ComponentChildren;
}

/** A button that opens a small panel below it; Escape and a click elsewhere close it. */
export function Menu({ label, children }: MenuProps) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const menu = box.current;
      if (menu?.open && !menu.contains(event.target as Node)) menu.open = false;
    };
    document.addEventListener('pointerdown', close);
    return () => document.removeEventListener('pointerdown', close);
  }, []);
  return (
    <details
      class="menu"
      ref={box}
      onKeyDown={(event) => {
        const menu = box.current;
        if (event.key !== 'Escape' || !menu?.open) return;
        event.stopPropagation();
        menu.open = false;
        menu.querySelector('summary')?.focus();
      }}
    >
      <summary class="button">{label}</summary>
      <div class="menu-panel">{children}</div>
    </details>
  );
}
