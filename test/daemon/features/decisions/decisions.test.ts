import { describe, expect, test } from 'vitest';
import { noTokens } from '../../../../src/daemon/features/calls/index.ts';
import {
  Calibrations,
  Debiaser,
  type DecisionEngine,
  DecisionSlots,
  Decisions,
  type EngineAnswer,
  type EngineRequest,
  HostBudget,
  ModelMemory,
  type Question,
} from '../../../../src/daemon/features/decisions/index.ts';
import { LocalChanges } from '../../../../src/daemon/storage/local-changes.ts';
import { type DecisionOptions, decisionDeadlineMs } from '../../../../src/shared/contract/decisions.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { fakeWorld, settled } from '../../../support/fake-world.ts';

const question: Question = {
  type: 'predicate',
  name: null,
  instructions: 'Is it late?',
  options: [
    { value: true, label: 'Yes' },
    { value: false, label: 'No' },
  ],
};
const colours: Question = {
  type: 'choice',
  name: null,
  instructions: 'Which?',
  options: ['red', 'green', 'blue'].map((value) => ({ value, label: value })),
};
const levels: Question = {
  type: 'score',
  name: null,
  instructions: 'How much?',
  options: ['low', 'mid', 'high'].map((label, value) => ({ value, label })),
};

const unset: DecisionEngine = {
  status: () => ({ available: false, reason: 'no decision engine is configured' }),
  ask: () => Promise.reject(new Error('unexpected')),
};

interface Ask {
  options?: DecisionOptions;
  model?: string;
  questions?: Question[];
  signal?: AbortSignal;
  order?: 'hosted';
}

/** Decisions of an engine with its own decision endpoint, in a world whose time only moves when it is told to. */
function decisionsOf(ask: DecisionEngine['ask'] | undefined, concurrentMax = 64) {
  const world = fakeWorld();
  const native: DecisionEngine = {
    status: () => ({ available: true, identity: 'kev', method: 'native' }),
    ask: ask ?? unset.ask,
  };
  const store = { calibrations: async () => [], saveCalibration: async () => {}, spentOn: async () => 0 };
  const unused = () => {
    throw new Error('unexpected');
  };
  const decisions = new Decisions({
    engines: { engine: ask ? native : unset, 'engine-flash': unset },
    budget: new HostBudget({
      store: { ...store, spend: unused },
      now: world.now,
      settings: { budget: 0 },
    }),
    slots: new DecisionSlots({ concurrentMax }),
    calibrations: new Calibrations({ ...store, removeCalibration: unused }, new LocalChanges()),
    router: { plan: unused, open: unused, countInput: unused },
    settings: { models: [], defaultOrder: undefined },
    backupModels: () => [],
    nativeOf: unused,
    engineOf: unused,
    keyFor: unused,
    debiaser: new Debiaser(),
    memory: new ModelMemory(world),
    makeId: () => 'dec_1',
    world,
  });
  const decide = ({ options = {}, model = 'engine', questions = [question], signal, order }: Ask = {}) =>
    decisions.decide({
      caller: { kind: 'anonymous' },
      model,
      options,
      order,
      requestId: 'req_1',
      deadlineMs: options.deadline_ms ?? decisionDeadlineMs,
      request: { input: 'x', questions },
      signal: signal ?? new AbortController().signal,
    });
  return { world, decide };
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error as ApiError,
  );

/** An engine whose answers are given by the test, in the order in which it was asked. */
function waitingEngine() {
  const asked: { answer: () => void; signal: AbortSignal }[] = [];
  const ask: DecisionEngine['ask'] = (_request, signal) =>
    new Promise((resolve) => {
      const answers = [{ probabilities: [0.9, 0.1] }];
      asked.push({ signal, answer: () => resolve({ answers, tokens: noTokens }) });
    });
  return { asked, ask };
}

describe('the deadline', () => {
  test.each([
    ['of a caller who names none is 25 seconds', {}, 25_000],
    ['is what the caller names', { deadline_ms: 1000 }, 1000],
  ])('%s, and ends what the source still does', async (_, options, ms) => {
    const engine = waitingEngine();
    const { world, decide } = decisionsOf(engine.ask);
    const failed = failureOf(decide({ options }));
    await settled();
    await world.advance(ms - 1);
    expect(engine.asked[0]?.signal.aborted).toBe(false);
    await world.advance(1);
    expect(await failed).toMatchObject({
      code: 'unavailable',
      extra: { attempts: [{ source: 'engine', outcome: 'timeout', ms }] },
    });
    expect(engine.asked[0]?.signal.aborted).toBe(true);
    expect(world.sleeping()).toBe(0);
  });
});

describe('a flood', () => {
  test('waits for its turn in order, and what is too much is refused with the time to retry', async () => {
    const engine = waitingEngine();
    const { decide } = decisionsOf(engine.ask, 2);
    const answers = Array.from({ length: 10 }, () => decide());
    await settled();
    expect(engine.asked).toHaveLength(2);
    expect(await failureOf(decide())).toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 });
    // Each answer starts the next one.
    for (let at = 0; at < 10; at += 1) {
      expect(engine.asked).toHaveLength(Math.min(10, at + 2));
      engine.asked[at]?.answer();
      await answers[at];
      await settled();
    }
    const last = decide();
    await settled();
    engine.asked[10]?.answer();
    expect((await last).service.answered_by).toBe('engine');
  });

  test('does not make a decision wait beyond its deadline, or for a client that has left', async () => {
    const engine = waitingEngine();
    const { world, decide } = decisionsOf(engine.ask, 1);
    const first = decide({ options: { deadline_ms: 60_000 } });
    const leaving = new AbortController();
    const left = failureOf(decide({ signal: leaving.signal }));
    const late = failureOf(decide({ options: { deadline_ms: 2000 } }));
    await settled();
    leaving.abort();
    expect(await left).toBeInstanceOf(ApiError);
    await world.advance(2000);
    expect(await late).toMatchObject({
      code: 'unavailable',
      message: 'Other decisions were running until the deadline had passed.',
    });
    engine.asked[0]?.answer();
    await first;
    // Those who gave up took no slot with them.
    const next = decide();
    await settled();
    expect(engine.asked).toHaveLength(2);
    engine.asked[1]?.answer();
    await next;
  });
});

describe('a decision model', () => {
  /** Prefers what comes first, and green. */
  const prefersFirst = ({ questions }: EngineRequest): EngineAnswer[] =>
    questions.map(({ options }) => {
      const weights = options.map(({ label }, at) => (label === 'green' ? 4 : 1) * (at === 0 ? 3 : 1));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      return { probabilities: weights.map((weight) => weight / total) };
    });

  function asking(answer = prefersFirst) {
    const requests: EngineRequest[] = [];
    const made = decisionsOf(async (request) => {
      requests.push(request);
      return { answers: answer(request), tokens: noTokens };
    });
    return { requests, ...made };
  }

  test('is asked once, and with `full` in every order of a choice, but never with levels out of order', async () => {
    const { decide, requests } = asking();
    const questions = [question, colours, levels];
    await decide({ questions });
    expect(requests.flatMap((request) => request.questions)).toHaveLength(3);
    requests.length = 0;
    const decided = await decide({ questions, options: { debias: 'full' } });
    const shown = requests.flatMap((request) => request.questions);
    expect(shown.map(({ options }) => options.map(({ label }) => label).join(' '))).toEqual([
      'Yes No',
      'red green blue',
      'green blue red',
      'blue red green',
      'low mid high',
    ]);
    const [, choice] = decided.answer.answers;
    expect(choice).toMatchObject({ diagnostics: { permutations: 3 } });
    const [red, green, blue] = choice && 'probabilities' in choice ? choice.probabilities : [];
    expect(red).toBeCloseTo(1 / 6, 9);
    expect(green).toBeCloseTo(4 / 6, 9);
    expect(blue).toBeCloseTo(1 / 6, 9);
  });

  test('gets no more than 64 questions at a time, however many orders there are', async () => {
    const many: Question = {
      ...colours,
      options: Array.from({ length: 100 }, (_, at) => ({ value: `v${at}`, label: `v${at}` })),
    };
    const { decide, requests } = asking();
    const decided = await decide({ questions: [many], options: { debias: 'full' } });
    expect(requests.map((request) => request.questions.length)).toEqual([64, 36]);
    const [answer] = decided.answer.answers;
    const probabilities = answer && 'probabilities' in answer ? answer.probabilities : [];
    for (const each of probabilities) expect(each).toBeCloseTo(0.01, 9);
  });
});

test('without an engine and other models, the error says what to set and which model needs nothing', async () => {
  const { decide } = decisionsOf(undefined);
  const failure = await failureOf(decide({ model: 'service/decide' }));
  expect(failure).toMatchObject({ code: 'unavailable' });
  for (const part of ['no decision engine is configured', 'decisions.models', 'sim/assistant'])
    expect(failure?.message).toContain(part);
  // Who wants the engine does not want another model.
  const hosted = await failureOf(decide({ model: 'service/decide', order: 'hosted' }));
  expect(hosted?.message).not.toContain('sim/assistant');
});
