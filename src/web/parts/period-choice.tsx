import { type CustomRange, daysOf, rangeOfDays, rangeTitle } from '../data/custom-range.ts';
import { setQuery } from '../data/route.ts';
import { zoomTo } from '../data/zoom.ts';
import { Choice } from './choice.tsx';
import { Dialog } from './dialog.tsx';
import { DialogButton } from './dialog-button.tsx';
import { FieldFault, Form } from './form.tsx';

interface PeriodChoiceProps<R extends string> {
  ranges: readonly R[];
  /** The one that is shown; undefined for a period of its own. */
  value: R | undefined;
  /** What an address without a range shows. */
  usual: R | undefined;
  custom: CustomRange | undefined;
  now: number;
  timeZone: string;
}

/** One of a few periods up to now, or one that begins and ends at chosen days. */
export function PeriodChoice<R extends string>(props: PeriodChoiceProps<R>) {
  const { ranges, value, usual, custom, now, timeZone } = props;
  return (
    <>
      <Choice
        label="Period"
        options={ranges.map((range) => ({ value: range, title: range }))}
        value={value ?? ('' as R)}
        onChange={(range) =>
          setQuery({
            range: range === usual ? undefined : range,
            per: undefined,
            since: undefined,
            until: undefined,
          })
        }
      />
      <DialogButton
        label={custom ? rangeTitle(custom, timeZone) : 'Custom…'}
        title={custom ? `Period: ${rangeTitle(custom, timeZone)}` : 'Custom… period'}
        dialog={(close) => (
          <ChooseDays
            initial={daysOf(custom ?? { since: now - 6 * 86_400_000, until: now }, timeZone)}
            timeZone={timeZone}
            onClose={close}
          />
        )}
      />
    </>
  );
}

interface ChooseDaysProps {
  initial: { from: string; to: string };
  timeZone: string;
  onClose: () => void;
}

function ChooseDays({ initial, timeZone, onClose }: ChooseDaysProps) {
  return (
    <Dialog title="Custom period" onClose={onClose}>
      <Form<'from' | 'to'>
        fields={[
          { name: 'from', label: 'From', kind: 'date', value: initial.from, isRequired: true, isHalf: true },
          {
            name: 'to',
            label: 'To',
            kind: 'date',
            value: initial.to,
            isRequired: true,
            isHalf: true,
            hint: `To the end of this day, in ${timeZone}.`,
          },
        ]}
        action="Show it"
        onCancel={onClose}
        onSubmit={async ({ from, to }) => {
          if (from > to) throw new FieldFault('to', 'It ends before it begins.');
          if (from < '2020-01-01') throw new FieldFault('from', 'There are no calls before 2020.');
          const { since, until } = rangeOfDays(from, to, timeZone);
          zoomTo(since, until);
          onClose();
        }}
      />
    </Dialog>
  );
}
