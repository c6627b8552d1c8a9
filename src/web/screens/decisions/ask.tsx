import { useSignal } from '@preact/signals';
import type { createDecision as contract } from '../../../shared/contract/decisions.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import { createDecision } from '../../../shared/endpoints.ts';
import { duration } from '../../../view/durations.ts';
import { percent } from '../../../view/numbers.ts';
import { call } from '../../data/api.ts';
import { Form } from '../../parts/form.tsx';
import { Meter } from '../../parts/meter.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { modelsIn, type QuestionField, questionFields, questionIn } from './question-fields.ts';

type Decision = Result<typeof contract>;
type Answer = Decision['answers'][number];

interface Lane {
  model: string;
  decision?: Decision;
  error?: unknown;
}

/** Asks models a question about a text, and shows the probabilities of their answers side by side. */
export function Ask() {
  const lanes = useSignal<readonly Lane[]>([]);
  const ask = async (values: Record<QuestionField, string>) => {
    const body = { input: values.input, questions: [questionIn(values)] };
    const answers = modelsIn(values.models).map(async (model): Promise<Lane> => {
      try {
        return { model, decision: await call(createDecision, { headers: {}, body: { ...body, model } }) };
      } catch (error) {
        return { model, error };
      }
    });
    lanes.value = await Promise.all(answers);
  };
  return (
    <div class="decisions">
      <Panel title="Ask">
        <Form<QuestionField> fields={questionFields} action="Ask" onSubmit={ask} />
      </Panel>
      <Panel title="Answers">
        {lanes.value.length === 0 && (
          <p class="quiet">Answers are probabilities. Models that would cost the host money are not asked.</p>
        )}
        <div class="lanes" role="status">
          {lanes.value.map((lane) => (
            <LaneView key={lane.model} lane={lane} />
          ))}
        </div>
      </Panel>
    </div>
  );
}

function LaneView({ lane: { model, decision, error } }: { lane: Lane }) {
  const answer = decision?.answers[0];
  return (
    <section aria-label={model}>
      <h3>{model}</h3>
      {error !== undefined && <ProblemBox error={error} />}
      {answer && <Bars answer={answer} />}
      {decision && (
        <p class="quiet">
          {decision.model} by {decision.service.answered_by}, {decision.service.method.replaceAll('_', ' ')},{' '}
          {duration(decision.service.latency_ms)}
          {decision.service.calibrated && ', calibrated'}
        </p>
      )}
    </section>
  );
}

function Bars({ answer }: { answer: Answer }) {
  if (answer.type === 'refusal') return <p class="warn">The model declined to answer.</p>;
  const rows = barsOf(answer);
  const most = Math.max(...rows.map(({ probability }) => probability));
  return (
    <table class="data bars">
      <thead class="for-readers">
        <tr>
          <th scope="col">Answer</th>
          <th scope="col">Probability</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, probability }) => (
          <tr key={name}>
            <th scope="row" class={probability === most ? 'is-title' : ''}>
              {name}
              <Meter used={Math.min(0.999, probability)} />
            </th>
            <td class="number">{percent(probability)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function barsOf(answer: Exclude<Answer, { type: 'refusal' }>): { name: string; probability: number }[] {
  if (answer.type === 'predicate')
    return [
      { name: 'true', probability: answer.probability },
      { name: 'false', probability: 1 - answer.probability },
    ];
  if (answer.type === 'score')
    return answer.probabilities.map(({ label, probability }) => ({ name: label, probability }));
  return answer.probabilities.map(({ value, probability }) => ({ name: String(value), probability }));
}
