import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { type Answers, ThreadLink } from '../../../src/daemon/worker-threads/thread-link.ts';
import { ApiError } from '../../../src/shared/errors.ts';

interface Asked {
  double: [question: number, answer: number];
  note: [question: string, answer: undefined];
  /** Answered by the next `release`. */
  held: [question: undefined, answer: string];
  release: [question: undefined, answer: string];
}

function linked(answers: Partial<Answers<Asked>>): ThreadLink<Asked, object> {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  new ThreadLink<object, Asked>(port2, answers as Answers<Asked>);
  return new ThreadLink<Asked, object>(port1, {});
}

test('questions are answered by name, and messages arrive in their order', async () => {
  const noted: string[] = [];
  const link = linked({
    double: (number) => number * 2,
    note: (text) => noted.push(text),
  });
  link.tell('note', 'first');
  const answer = link.ask('double', 21);
  link.tell('note', 'second');
  expect(await answer).toBe(42);
  await link.ask('double', 1);
  expect(noted).toEqual(['first', 'second']);
});

test('an answer that was held back comes before that to the question that released it', async () => {
  const held = Promise.withResolvers<string>();
  const link = linked({
    held: () => held.promise,
    release() {
      held.resolve('held');
      return 'released';
    },
  });
  const order: string[] = [];
  const first = link.ask('held', undefined).then((answer) => order.push(answer));
  await link.ask('release', undefined).then((answer) => order.push(answer));
  await first;
  expect(order).toEqual(['held', 'released']);
});

test('an error for the caller arrives as it was, and of its cause the message', async () => {
  const link = linked({
    double() {
      const cause = new Error('the disk is gone');
      throw new ApiError('conflict', { message: 'Taken.', param: 'name', retryAfterSeconds: 3, cause });
    },
  });
  const error = await link.ask('double', 1).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    code: 'conflict',
    message: 'Taken.',
    param: 'name',
    retryAfterSeconds: 3,
    cause: new Error('the disk is gone'),
  });
});

test('of another error the message arrives', async () => {
  const link = linked({
    double: () => Promise.reject(new TypeError('no number')),
  });
  const error = await link.ask('double', 1).catch((thrown: unknown) => thrown);
  expect(error).not.toBeInstanceOf(ApiError);
  expect(error).toEqual(new Error('no number'));
});

test('when the other side has ended, what was asked and what is asked later fails', async () => {
  const link = linked({ held: () => new Promise(() => {}) });
  const asked = link.ask('held', undefined);
  const reason = new Error('the thread ended');
  link.end(reason);
  await expect(asked).rejects.toBe(reason);
  await expect(link.ask('double', 1)).rejects.toBe(reason);
  link.tell('note', 'nobody hears this');
});
