import type { TraceView } from '../../../shared/contract/traces.ts';
import { rowOfTrace } from '../../../view/call-row.ts';
import { callFields } from '../../../view/calls.ts';
import { fieldsOf } from '../../../view/field.ts';
import { type KeyNames, keyText } from '../../../view/key-names.ts';
import { isNarrow } from '../../data/narrow.ts';
import { now } from '../../data/now.ts';
import { callColumns } from '../../data/preferences.ts';
import { setQuery } from '../../data/route.ts';
import { Amount } from '../../parts/amount.tsx';
import { callKinds, endedSeconds } from '../../parts/call-kinds.ts';
import { fieldColumns, titleOf } from '../../parts/field-columns.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Status } from '../../parts/status.tsx';
import type { TableColumn } from '../../parts/table.tsx';
import type { ColumnSort } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { type CallSorting, listedSort } from './call-list.ts';
import { previews } from './previews.ts';

export interface ColumnContext {
  /** The address of a call of the list. */
  hrefOf(id: string): string;
  keyNames: KeyNames;
}

const fields = callFields.filter(({ lists }) => lists !== 'live');
/** Not a field of a call: it is read from its content. */
const previewTitle = 'Content';
const titles = [...fields.map(titleOf).toSpliced(4, 0, previewTitle)];
const initial = titles.filter(
  (title) => title === previewTitle || fields.some((field) => field.isUsual && titleOf(field) === title),
);
/** Columns by which the daemon sorts. */
const sortings: Readonly<Record<string, CallSorting | undefined>> = {
  Ended: undefined,
  Cost: 'cost',
  Total: 'total_ms',
};

/** Whether the list shows what was asked and answered. */
export function hasPreviews(): boolean {
  return isNarrow.value || chosen().includes(previewTitle);
}

/** The names of the chosen columns; Model leads to the call, and so is always there. */
function chosen(): readonly string[] {
  const kept = callColumns.value.split(',').filter((name) => titles.includes(name));
  return kept.length > 0 ? [...kept, 'Model'] : initial;
}

export function columnsFor({ hrefOf, keyNames }: ColumnContext): TableColumn<TraceView>[] {
  const shown = chosen();
  const columns = fieldColumns(
    fieldsOf(fields, rowOfTrace),
    { now: now.value, keyNames },
    {
      kinds: callKinds,
      seconds: endedSeconds,
      cells: {
        completed_at: ({ completed_at: at }) => <Time at={at} />,
        status: ({ status, error_code: code }) => <Status status={status} code={code} />,
        model: ({ request_id: id, model, provider, key, client }) => (
          <>
            <a href={hrefOf(id)}>{model ?? 'no model'}</a>
            <span class="second-line">
              {previews.value.get(id)?.question ??
                [key && keyText(key, keyNames), client ?? provider].filter(Boolean).join(' · ')}
            </span>
          </>
        ),
        cost_usd: ({ cost, status }) => status !== 'rejected' && <Amount usd={cost?.total_usd} />,
      },
    },
  );
  const all = columns.toSpliced(4, 0, { name: previewTitle, kind: 'preview', show: previewCell });
  return all
    .filter(({ name }) => shown.includes(name))
    .map((column) => ({
      ...column,
      sort: Object.hasOwn(sortings, column.name) ? sortOf(column.name) : undefined,
    }));
}

function sortOf(name: string): ColumnSort {
  const by = sortings[name];
  return {
    direction: listedSort.value === by ? 'descending' : undefined,
    choose: () => setQuery({ sort: listedSort.value === by ? undefined : by }),
  };
}

/** What was asked last, and what was answered. */
function previewCell({ request_id: id }: TraceView) {
  const { question, answer } = previews.value.get(id) ?? {};
  return (
    <span class="preview-text" title={[question, answer].filter(Boolean).join('\n\n')}>
      {question} {answer && <span class="quiet">{/^→/.test(answer) ? answer : `→ ${answer}`}</span>}
    </span>
  );
}

export function ColumnMenu() {
  const shown = chosen();
  const toggle = (name: string) => {
    const next = titles.filter((one) => shown.includes(one) !== (one === name));
    callColumns.value = next.join() === initial.join() ? '' : next.join();
  };
  return (
    <Menu label="Columns">
      {titles
        .filter((name) => name !== 'Model')
        .map((name) => (
          <label key={name} class="check">
            <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} /> {name}
          </label>
        ))}
    </Menu>
  );
}
