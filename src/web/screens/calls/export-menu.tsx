import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ExportContent, ExportFormat } from '../../../shared/contract/traces-export.ts';
import { exportTraces } from '../../../shared/endpoints.ts';
import { sizeText } from '../../../shared/text/size-text.ts';
import { readAll, saveText } from '../../data/download.ts';
import { csvDelimiter } from '../../data/preferences.ts';
import { Menu } from '../../parts/menu.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { filters } from './call-list.ts';

const formats: readonly { format: ExportFormat; title: string; ending: string }[] = [
  { format: 'jsonl', title: 'JSON, a call per line', ending: 'jsonl' },
  { format: 'csv', title: 'CSV', ending: 'csv' },
  { format: 'har', title: 'HAR', ending: 'har' },
  { format: 'otlp', title: 'OpenTelemetry', ending: 'otlp.jsonl' },
];

const contents: readonly { content: ExportContent; title: string }[] = [
  { content: 'none', title: 'without content' },
  { content: 'text', title: 'with requests and answers' },
  { content: 'wire', title: 'with what providers got' },
];

/** Saves all calls of the query as a file. */
export function ExportMenu() {
  const format = useSignal<ExportFormat>('jsonl');
  const content = useSignal<ExportContent>('none');
  const running = useSignal<AbortController | undefined>(undefined);
  const length = useSignal(0);
  const failure = useSignal<unknown>(undefined);
  useEffect(() => () => running.value?.abort(), [running]);
  const save = async () => {
    const abort = new AbortController();
    running.value = abort;
    length.value = 0;
    failure.value = undefined;
    const ending = formats.find((one) => one.format === format.value)?.ending;
    try {
      const delimiter = csvDelimiter();
      const query = { ...filters.value, format: format.value, content: content.value, delimiter };
      const pieces = await readAll(
        exportTraces,
        { query },
        {
          signal: abort.signal,
          onLength: (characters) => {
            length.value = characters;
          },
        },
      );
      saveText(`calls.${ending}`, pieces, 'application/octet-stream');
    } catch (error) {
      if (!abort.signal.aborted) failure.value = error;
    }
    running.value = undefined;
  };
  return (
    <Menu label="Export">
      <label>
        Format{' '}
        <select
          value={format.value}
          onChange={(event) => {
            format.value = event.currentTarget.value as ExportFormat;
          }}
        >
          {formats.map((one) => (
            <option key={one.format} value={one.format}>
              {one.title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Content{' '}
        <select
          value={content.value}
          onChange={(event) => {
            content.value = event.currentTarget.value as ExportContent;
          }}
        >
          {contents.map((one) => (
            <option key={one.content} value={one.content}>
              {one.title}
            </option>
          ))}
        </select>
      </label>
      {running.value === undefined ? (
        <button type="button" onClick={() => void save()}>
          Save the calls of this filter
        </button>
      ) : (
        <button type="button" onClick={() => running.value?.abort()}>
          Stop ({sizeText(length.value)} so far)
        </button>
      )}
      {failure.value !== undefined && <ProblemBox error={failure.value} />}
    </Menu>
  );
}
