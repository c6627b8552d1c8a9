import { useSignal } from '@preact/signals';
import { CallsFigure } from './calls-figure.tsx';
import type { ChartData } from './chart-data.ts';
import { number, TableHead } from './table-head.tsx';

/** The numbers of a chart as a table, made when it is opened. */
export function ChartNumbers({ title, data }: { title: string; data: ChartData }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="numbers"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>Numbers</summary>
      {isOpen.value && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys.
        <section class="scroll" tabIndex={0} aria-label={`${title}: numbers`}>
          <table class="data">
            <TableHead columns={['Time', ...data.series.map(({ label }) => number(label))]} />
            <tbody>
              {data.buckets.map(({ start, label }, bucket) => (
                <tr key={start}>
                  <th scope="row">{label}</th>
                  {data.series.map(({ label: name, values }, at) => (
                    <td key={name} class="number">
                      <CallsFigure
                        text={textOf(data, values[bucket])}
                        what={`${name}, ${label}`}
                        of={values[bucket] ? data.callsOf?.(bucket, at) : undefined}
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}

function textOf({ format }: ChartData, value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : format(value);
}
