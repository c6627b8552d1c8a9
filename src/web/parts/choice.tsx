interface ChoiceProps<T extends string> {
  /** What is chosen, for screen readers. */
  label: string;
  options: readonly { value: T; title: string }[];
  value: T;
  onChange(value: T): void;
}

/** One of a few, as buttons side by side. */
export function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  return (
    <fieldset class="choice" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.title}
        </button>
      ))}
    </fieldset>
  );
}
