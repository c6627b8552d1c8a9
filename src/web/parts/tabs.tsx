interface TabsProps {
  label: string;
  tabs: readonly (readonly [name: string, title: string])[];
  selected: string;
  select: (name: string) => void;
}

/** Tabs by the pattern of WAI-ARIA: one is in the order of the Tab key, arrows go to the others. */
export function Tabs({ label, tabs, selected, select }: TabsProps) {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === selected);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    select(next[0]);
    document.getElementById(`tab-${next[0]}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(([name, title]) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === selected}
          aria-controls="tab-panel"
          tabIndex={name === selected ? 0 : -1}
          onClick={() => select(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
