import type { TraceView } from '../../../shared/contract/traces.ts';
import { rowOfTrace } from '../../../view/call-row.ts';
import { callFields } from '../../../view/calls.ts';
import { fieldsOf } from '../../../view/field.ts';
import { type KeyNames, keyText } from '../../../view/key-names.ts';
import { now } from '../../data/now.ts';
import { callColumns } from '../../data/preferences.ts';
import { Amount } from '../../parts/amount.tsx';
import { callKinds, endedSeconds } from '../../parts/call-kinds.ts';
import { fieldColumns, titleOf } from '../../parts/field-columns.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Status } from '../../parts/status.tsx';
import type { TableColumn } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

export interface ColumnContext {
  /** The address of a call of the list. */
  hrefOf(id: string): string;
  keyNames: KeyNames;
}

const fields = callFields.filter(({ lists }) => lists !== 'live');
const titles = fields.map(titleOf);
const initial = fields.filter(({ isUsual }) => isUsual).map(titleOf);

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
              {[key && keyText(key, keyNames), client ?? provider].filter(Boolean).join(' · ')}
            </span>
          </>
        ),
        cost_usd: ({ cost, status }) => status !== 'rejected' && <Amount usd={cost?.total_usd} />,
      },
    },
  );
  return columns.filter(({ name }) => shown.includes(name));
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
