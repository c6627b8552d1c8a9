import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { afterAll } from 'vitest';
import { bundle } from './bundle.ts';

/** Modules that export `works`, by name. */
const modules = {
  'live-calls': 'test/view/live-calls.works.ts',
  'compare-calls': 'test/shared/comparison/compare-calls.works.ts',
  masking: 'test/shared/masking/masking.works.ts',
  quadratic: 'test/support/quadratic.works.ts',
  sse: 'test/shared/http/sse.works.ts',
  upstream: 'test/daemon/upstream/upstream.works.ts',
  yaml: 'test/daemon/yaml.works.ts',
};

interface Counted {
  steps: number;
  result: unknown;
}

/** Less than this is linear: twice the input takes about twice the steps. In quadratic time it takes four times as many. */
export const linearGrowth = 2.1;

let folder: Promise<string> | undefined;

/**
 * Measures how the steps of work grow with its input: how often functions are called and loops turn, in Gateway and the packages
 * that it uses, and how many elements and characters the functions of JavaScript go through, but for regular expressions.
 * The numbers are the same on each machine. Returns a function that runs a work of the module, in a thread of its own, with inputs
 * of a size and of twice that.
 */
export function stepGrowth(module: keyof typeof modules) {
  let thread: Worker | undefined;
  afterAll(() => thread?.terminate());
  const count = async (name: string, size: number): Promise<Counted> => {
    folder ??= bundle({ 'counted-thread': 'test/support/counted-thread.ts', ...modules }, [counting]);
    const built = await folder;
    thread ??= new Worker(join(built, 'counted-thread.js'), {
      workerData: pathToFileURL(join(built, `${module}.js`)).href,
    });
    thread.postMessage({ name, size });
    const [counted] = await once(thread, 'message');
    return counted;
  };
  return async (name: string, size = 500): Promise<{ growth: number; result: unknown }> => {
    const { steps } = await count(name, size);
    const twice = await count(name, 2 * size);
    return { growth: twice.steps / steps, result: twice.result };
  };
}

/** Adds counts to all but what counts. */
export const counting: Plugin = {
  name: 'counting',
  renderChunk: (code, { name }) => (/^(counted-thread|step-counter)$/.test(name) ? null : withCounts(code)),
};

interface Node {
  type: string;
  start: number;
  end: number;
  body?: Node | null;
  argument?: Node | null;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** The program with a call of the counter in each function and turn of a loop, and around what is spread. */
function withCounts(code: string): string {
  const added: { at: number; text: string }[] = [];
  const around = ({ start, end }: Node, before: string, after: string) =>
    added.push({ at: start, text: before }, { at: end, text: after });
  const visit = (node: Node) => {
    const { type, body, argument } = node;
    if (/^(Function|Arrow|For|While|DoWhile)/.test(type) && body) {
      if (/^(BlockStatement|FunctionBody)$/.test(body.type))
        added.push({ at: body.start + 1, text: 'stepCounter.step();' });
      else if (type.startsWith('Arrow')) around(body, '(stepCounter.step(),', ')');
      else around(body, '{stepCounter.step();', '}');
    }
    if (type === 'SpreadElement' && argument) around(argument, 'stepCounter.spread(', ')');
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child);
  };
  visit(parseAst(code) as unknown as Node);
  let end = 0;
  // Sorted stably: of two calls at one place, the outer one was added first and opens first; closing ones are alike.
  const parts = added
    .sort((one, other) => one.at - other.at)
    .map(({ at, text }) => {
      const part = code.slice(end, at) + text;
      end = at;
      return part;
    });
  return parts.join('') + code.slice(end);
}
