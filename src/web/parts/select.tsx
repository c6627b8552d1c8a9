interface SelectProps<T extends string> {
  label: string;
  /** Whether only screen readers need the label. */
  isLabelHidden?: boolean;
  options: readonly { value: T; title: string; isDisabled?: boolean }[];
  value: T;
  onChange(value: T): void;
}

/** One of several, with its label before it. */
export function Select<T extends string>({
  label,
  isLabelHidden = false,
  options,
  value,
  onChange,
}: SelectProps<T>) {
  return (
    <label class="select">
      <span class={isLabelHidden ? 'for-readers' : 'quiet'}>{label}</span>{' '}
      <select
        value={value}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.currentTarget.value);
          if (chosen) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.isDisabled ?? false}>
            {option.title}
          </option>
        ))}
      </select>
    </label>
  );
}
