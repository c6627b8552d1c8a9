import { useSignal } from '@preact/signals';
import type { SettingView } from '../../../shared/contract/configuration.ts';
import { getConfiguration } from '../../../shared/endpoints.ts';
import { useQuery } from '../../data/query.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions } from '../../parts/table-head.tsx';
import { Typed } from '../../parts/typed.tsx';
import { ChangeSetting } from '../setup/change-setting.tsx';

/** The effective settings of the daemon and where each comes from. */
export function Configuration() {
  const query = useQuery(getConfiguration, {});
  const words = useSignal('');
  const onlySet = useSignal(false);
  const all = query.data?.settings ?? [];
  const shown = all.filter(
    ({ name, value, source }) =>
      (!onlySet.value || source !== 'default') &&
      `${name} ${textOf(value)} ${source}`.toLowerCase().includes(words.value.toLowerCase().trim()),
  );
  return (
    <Panel
      title="Configuration"
      class="is-wide"
      queries={[query]}
      tools={
        <>
          <button
            type="button"
            aria-pressed={onlySet.value}
            onClick={() => {
              onlySet.value = !onlySet.value;
            }}
          >
            Without defaults
          </button>
          <input
            type="search"
            aria-label="Filter settings"
            placeholder="Filter"
            value={words.value}
            onInput={(event) => {
              words.value = event.currentTarget.value;
            }}
          />
        </>
      }
    >
      <p class="quiet">
        Of <code>{query.data?.file}</code>. What has no button is changed there, or with{' '}
        <Typed>gateway config set</Typed>.
      </p>
      {shown.length === 0 ? (
        <p class="quiet">No setting matches.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys.
        <section class="scroll configuration" tabIndex={0} aria-label="Effective settings">
          <DataTable
            name="settings"
            isCards={false}
            columns={[
              { name: 'Setting', value: ({ name }) => name },
              { name: 'Value', value: ({ value }) => (typeof value === 'number' ? value : textOf(value)) },
              { name: 'Source', value: ({ source }) => source },
              actions,
            ]}
            rows={shown}
          >
            {(setting) => <SettingRow key={setting.name} setting={setting} />}
          </DataTable>
        </section>
      )}
    </Panel>
  );
}

function SettingRow({ setting }: { setting: SettingView }) {
  const { name, value, source, place, waits_for_restart: waits } = setting;
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td class="setting-value">
        <code>{textOf(value)}</code>
        {waits && <span class="warn"> waits for a restart</span>}
      </td>
      <td class={source === 'default' ? 'quiet' : ''}>
        {source}
        {place !== null && <span class="quiet sub">{place}</span>}
      </td>
      <td>
        {setting.is_changeable && name !== 'upstreams' && (
          <span class="row-actions">
            <DialogButton
              label="Change"
              title={`Change ${name}`}
              dialog={(close) => <ChangeSetting setting={setting} onClose={close} />}
            />
          </span>
        )}
      </td>
    </tr>
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
