import type { SettingView } from '../../../shared/contract/configuration.ts';
import { type Field, linesOf } from '../../parts/field-types.ts';
import { FieldFault } from '../../parts/form.tsx';
import { ChangeDialog } from './change-dialog.tsx';

/** Changes one setting of the configuration, or removes it from the file. */
export function ChangeSetting({ setting, onClose }: { setting: SettingView; onClose: () => void }) {
  const { name, source } = setting;
  return (
    <ChangeDialog<'value'>
      title={name}
      fields={[fieldOf(setting)]}
      toRequest={({ value }) => ({ changes: [{ setting: name, value: valueIn(setting, value) }] })}
      {...(source === 'file' && {
        other: { title: 'Back to the default', request: { changes: [{ setting: name, value: null }] } },
      })}
      done={() => `${name} was changed.`}
      onClose={onClose}
    />
  );
}

function fieldOf({ kind, value, choices, description }: SettingView): Field<'value'> {
  const field = { name: 'value', label: 'Value', isRequired: true } as const;
  const hint = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  if (kind === 'flag' || kind === 'choice') {
    const names = kind === 'flag' ? ['true', 'false'] : choices;
    const options = names.map((one) => ({ value: one, title: one }));
    return { ...field, kind: 'choice', options, value: String(value ?? '') };
  }
  if (kind === 'list') {
    const lines = Array.isArray(value) ? value.map(String).join('\n') : '';
    return { ...field, isRequired: false, kind: 'lines', value: lines, hint: `${hint} One per line.` };
  }
  if (kind === 'map')
    return { ...field, kind: 'lines', value: JSON.stringify(value ?? {}, null, 2), hint: `${hint} As JSON.` };
  return { ...field, hint, value: value === null ? '' : String(value) };
}

/** What the daemon checks: a text that is no number stays one. */
function valueIn({ kind }: SettingView, typed: string): unknown {
  const text = typed.trim();
  if (kind === 'flag') return text === 'true';
  if (kind === 'list') return linesOf(typed);
  if (kind === 'number') return text === '' || Number.isNaN(Number(text)) ? text : Number(text);
  if (kind !== 'map') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new FieldFault('value', 'This is not JSON.');
  }
}
