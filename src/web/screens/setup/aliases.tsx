import type { ConfigurationView } from '../../../shared/contract/configuration.ts';
import { isObject } from '../../../shared/json/json-object.ts';
import type { Query } from '../../data/query.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { linesOf } from '../../parts/field-types.ts';
import { Panel } from '../../parts/panel.tsx';
import { actions } from '../../parts/table-head.tsx';
import { aliasLines, aliasValue } from './alias-value.ts';
import { ChangeDialog } from './change-dialog.tsx';
import { settingOf } from './setting-value.ts';

/** Names that stand for models or groups of them. */
export function Aliases({ query }: { query: Query<ConfigurationView> }) {
  const value = settingOf(query.data, 'aliases');
  const aliases = Object.entries(isObject(value) ? value : {});
  return (
    <Panel
      title="Aliases"
      queries={[query]}
      action={{ label: 'Add an alias', dialog: (close) => <EditAlias onClose={close} /> }}
    >
      {aliases.length === 0 ? (
        <p class="quiet">
          None. An alias is a name that clients use instead of a model, so that you can change the model here.
        </p>
      ) : (
        <DataTable
          name="aliases"
          columns={[
            { name: 'Alias', value: ([name]) => name },
            { name: 'Models', value: ([, models]) => aliasLines(models).join(', ') },
            actions,
          ]}
          rows={aliases}
        >
          {([name, models]) => (
            <tr key={name}>
              <th scope="row" class="is-title wrap">
                {name}
              </th>
              <td class="wrap">{aliasLines(models).join(', ')}</td>
              <td>
                <span class="row-actions">
                  <DialogButton
                    label="Change"
                    title={`Change the alias ${name}`}
                    dialog={(close) => <EditAlias name={name} models={models} onClose={close} />}
                  />
                  <DialogButton
                    label="Remove"
                    title={`Remove the alias ${name}`}
                    dialog={(close) => (
                      <ChangeDialog
                        title={`Remove the alias ${name}?`}
                        toRequest={() => ({ changes: [{ setting: `aliases.${name}`, value: null }] })}
                        done={() => `The alias ${name} was removed.`}
                        onClose={close}
                      />
                    )}
                  />
                </span>
              </td>
            </tr>
          )}
        </DataTable>
      )}
    </Panel>
  );
}

function EditAlias({ name, models, onClose }: { name?: string; models?: unknown; onClose: () => void }) {
  return (
    <ChangeDialog<'name' | 'models'>
      title={name === undefined ? 'Add an alias' : `The alias ${name}`}
      fields={[
        {
          name: 'name',
          label: 'Name',
          placeholder: 'fast',
          value: name ?? '',
          isFixed: name !== undefined,
          isRequired: true,
          maxLength: 200,
          hint: 'A * stands for any characters: claude-haiku-*',
        },
        {
          name: 'models',
          label: 'Models',
          kind: 'lines',
          isRequired: true,
          value: aliasLines(models).join('\n'),
          hint: 'One per line, tried in this order. With a number after each, calls are distributed by weight: east/gpt-5 3',
        },
      ]}
      toRequest={(values) => ({
        changes: [{ setting: `aliases.${values.name.trim()}`, value: aliasValue(linesOf(values.models)) }],
      })}
      done={(values) => `The alias ${values.name} was saved.`}
      onClose={onClose}
    />
  );
}
