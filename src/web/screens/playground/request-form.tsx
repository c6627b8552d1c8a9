import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { change, changeBody, draft, type Json, repeatsMax } from './draft.ts';
import { TurnFields } from './turn-fields.tsx';

/** How each format names the longest answer. */
const maximums = {
  '/v1/responses': 'max_output_tokens',
  '/v1/chat/completions': 'max_completion_tokens',
  '/v1/messages': 'max_tokens',
  '/v1/embeddings': undefined,
} as const;

/** The request: what is simple as fields, and all of it as JSON. */
export function RequestForm() {
  const { endpoint, body, repeat } = draft.value;
  const isResponses = endpoint === '/v1/responses';
  const maximum = maximums[endpoint];
  const instructions = isResponses ? 'instructions' : endpoint === '/v1/messages' ? 'system' : undefined;
  const hasText = (name: string) => body[name] === undefined || typeof body[name] === 'string';
  return (
    <section class="panel request-form" aria-label="Request">
      {instructions && hasText(instructions) && (
        <TextField
          label="Instructions"
          rows={2}
          value={String(body[instructions] ?? '')}
          onInput={(text) => changeBody({ [instructions]: text || undefined })}
        />
      )}
      {'input' in body && typeof body.input === 'string' && (
        <TextField
          label="Message"
          rows={4}
          value={body.input}
          onInput={(text) => changeBody({ input: text })}
        />
      )}
      <TurnFields />
      <div class="request-numbers">
        {endpoint !== '/v1/embeddings' && (
          <NumberField label="Temperature" step={0.1} value={body.temperature} name="temperature" />
        )}
        {maximum && <NumberField label="Most tokens" step={1} value={body[maximum]} name={maximum} />}
        <label>
          Answers each
          <input
            type="number"
            min={1}
            max={repeatsMax}
            value={repeat}
            onChange={(event) => {
              const count = Math.round(Number(event.currentTarget.value));
              change({ repeat: Math.min(repeatsMax, Math.max(1, count || 1)) });
            }}
          />
        </label>
      </div>
      {endpoint !== '/v1/embeddings' && (
        <JsonField
          label="Tools"
          value={body.tools}
          isFit={Array.isArray}
          hint="a list of tools in the format of the request"
          onChange={(tools) => changeBody({ tools })}
        />
      )}
      {isResponses && (
        <JsonField
          label="JSON schema of the answer"
          value={schemaIn(body)}
          isFit={isObject}
          hint="a JSON schema: an object"
          onChange={(schema) => changeBody({ text: formatFor(body, schema) })}
        />
      )}
      <JsonField
        label="The whole request as JSON"
        value={body}
        isFit={isObject}
        hint="a JSON object"
        onChange={(value) => change({ body: (value ?? {}) as Json })}
      />
    </section>
  );
}

function schemaIn({ text }: Json): unknown {
  const format = isObject(text) ? text.format : undefined;
  return isObject(format) && format.type === 'json_schema' ? format.schema : undefined;
}

function formatFor({ text }: Json, schema: unknown): Json | undefined {
  const { format: _format, ...rest } = isObject(text) ? text : {};
  const format = schema === undefined ? {} : { format: { type: 'json_schema', name: 'answer', schema } };
  const all = { ...rest, ...format };
  return Object.keys(all).length > 0 ? all : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface TextFieldProps {
  label: string;
  rows: number;
  value: string;
  onInput: (text: string) => void;
}

function TextField({ label, rows, value, onInput }: TextFieldProps) {
  return (
    <label>
      {label}
      <textarea rows={rows} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
    </label>
  );
}

interface NumberFieldProps {
  label: string;
  step: number;
  value: unknown;
  /** The member of the request. */
  name: string;
}

function NumberField({ label, step, value, name }: NumberFieldProps) {
  return (
    <label>
      {label}
      <input
        type="number"
        min={0}
        step={step}
        placeholder="default"
        value={typeof value === 'number' ? value : ''}
        onInput={({ currentTarget: { value: text } }) =>
          changeBody({ [name]: text === '' ? undefined : Number(text) })
        }
      />
    </label>
  );
}

interface JsonFieldProps {
  label: string;
  value: unknown;
  /** Whether a value is one of the kind that is wanted. */
  isFit: (value: unknown) => boolean;
  /** What is wanted. */
  hint: string;
  /** Called with each value that can be read; undefined for an empty text. */
  onChange: (value: unknown) => void;
}

/** JSON that is edited as text. What cannot be read stays in the field, and is not part of the request. */
function JsonField({ label, value, isFit, hint, onChange }: JsonFieldProps) {
  const written = value === undefined ? '' : JSON.stringify(value, null, 2);
  const text = useSignal(written);
  const fault = useSignal('');
  useEffect(() => {
    // It was changed elsewhere.
    if (!isSame(text.value, written)) {
      text.value = written;
      fault.value = '';
    }
  }, [written, text, fault]);
  const read = (next: string) => {
    text.value = next;
    if (next.trim() === '') {
      fault.value = '';
      onChange(undefined);
      return;
    }
    const parsed = parsedJson(next);
    fault.value = parsed === undefined || !isFit(parsed.json) ? `This is not ${hint}.` : '';
    if (parsed && fault.value === '') onChange(parsed.json);
  };
  return (
    <details class="json-field">
      <summary>
        {label} {written !== '' && <span class="quiet">{Array.isArray(value) ? value.length : '✓'}</span>}
      </summary>
      <textarea
        rows={Math.min(18, Math.max(4, text.value.split('\n').length))}
        class="code"
        aria-label={label}
        aria-invalid={fault.value !== ''}
        spellcheck={false}
        placeholder={hint}
        value={text.value}
        onInput={(event) => read(event.currentTarget.value)}
      />
      {fault.value && (
        <p class="fault" role="alert">
          {fault.value}
        </p>
      )}
    </details>
  );
}

function parsedJson(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Whether a text is read as the same value. A text that cannot be read is still being written. */
function isSame(text: string, written: string): boolean {
  if (text.trim() === '') return written === '';
  const parsed = parsedJson(text);
  return parsed === undefined || JSON.stringify(parsed.json, null, 2) === written;
}
