import { type Field, linesOf } from './field-types.ts';

interface FieldProps {
  id: string;
  field: Field<string>;
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}

/** A field with its label, its hint, and what is wrong with its value. */
export function FieldInput(props: FieldProps) {
  const { id, field, value, fault, onChange } = props;
  const { kind, label, hint, isHalf } = field;
  const notes = (
    <>
      {hint && (
        <span id={`${id}-hint`} class="field-hint">
          {hint}
        </span>
      )}
      {fault && (
        <span id={`${id}-fault`} class="field-fault" role="alert">
          {fault}
        </span>
      )}
    </>
  );
  if (kind === 'checks') return <Checks {...props} />;
  if (kind === 'check')
    return (
      <div class="field is-check">
        <label>
          <input
            {...shared(props)}
            type="checkbox"
            checked={value === 'true'}
            onChange={(event) => onChange(event.currentTarget.checked ? 'true' : '')}
          />
          {label}
        </label>
        {notes}
      </div>
    );
  return (
    <div class={isHalf ? 'field is-half' : 'field'}>
      <label for={id}>{label}</label>
      <Input {...props} />
      {notes}
    </div>
  );
}

function Input(props: FieldProps) {
  const { field, value, onChange } = props;
  const { kind = 'text', placeholder, maxLength, options = [] } = field;
  const text = {
    ...shared(props),
    value,
    placeholder: placeholder ?? '',
    onInput: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  };
  const limit = maxLength === undefined ? {} : { maxLength };
  if (kind === 'choice')
    return (
      <select {...shared(props)} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.title}
          </option>
        ))}
      </select>
    );
  if (kind === 'lines') return <textarea {...text} {...limit} rows={3} spellcheck={false} />;
  if (kind === 'time') return <input {...text} type="datetime-local" />;
  if (kind === 'date') return <input {...text} type="date" />;
  if (kind === 'secret')
    return <input {...text} {...limit} type="password" autocomplete="off" spellcheck={false} />;
  if (kind === 'text')
    return <input {...text} {...limit} type="text" autocomplete="off" spellcheck={false} />;
  return (
    <span class={kind === 'amount' ? 'with-unit' : undefined}>
      {kind === 'amount' && <span aria-hidden="true">$</span>}
      <input {...text} type="text" inputMode={kind === 'amount' ? 'decimal' : 'numeric'} autocomplete="off" />
    </span>
  );
}

/** Several check boxes under one label. */
function Checks({ id, field, value, fault, onChange }: FieldProps) {
  const checked = linesOf(value);
  return (
    <fieldset class="field checks" aria-describedby={fault ? `${id}-fault` : undefined}>
      <legend>{field.label}</legend>
      {field.options?.map((option) => (
        <label key={option.value} title={option.hint}>
          <input
            name={field.name}
            type="checkbox"
            checked={checked.includes(option.value)}
            onChange={(event) => {
              const others = checked.filter((name) => name !== option.value);
              onChange((event.currentTarget.checked ? [...others, option.value] : others).join('\n'));
            }}
          />
          {option.title}
        </label>
      ))}
      {fault && (
        <span id={`${id}-fault`} class="field-fault" role="alert">
          {fault}
        </span>
      )}
    </fieldset>
  );
}

/** What every kind of input has. */
function shared({ id, field, fault }: FieldProps) {
  const described = [field.hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return {
    id,
    name: field.name,
    required: field.isRequired ?? false,
    disabled: field.isFixed ?? false,
    'aria-invalid': fault !== undefined,
    ...(described && { 'aria-describedby': described }),
  };
}
