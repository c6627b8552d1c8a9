import { Mutex } from '../../../shared/async/mutex.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import { trimBoth } from '../../../shared/text/trim-text.ts';
import type { World } from '../../base/world.ts';
import { UpstreamFailure } from '../upstreams/upstream.ts';
import type { ModelRunner, RunningModel } from './model-runner.ts';

/** The engine that a model serves as, besides its own name: the large or the small one. */
export type EngineRole = 'engine' | 'engine-flash';

/** A model file of this machine, as it was when it was added. */
export interface EngineModel {
  /** `NAME` of `local/NAME`. */
  name: string;
  path: string;
  bytes: number;
  sha256: string;
  architecture: string;
  /** The longest input and output together that it was trained for, in tokens. */
  trainedTokens: number;
  role: EngineRole | null;
  /** Milliseconds since 1970. */
  addedAt: number;
}

/** A model, and its process. */
export interface OpenModel<Model extends RunningModel = RunningModel> extends EngineModel {
  running: Model;
}

export interface NewModel {
  path: string;
  name?: string | undefined;
  /** By default `engine`, if no other model has that role. */
  role?: EngineRole | undefined;
}

/** The result of a check; `problem` is a sentence, null if the model answered. */
export interface ModelCheck {
  model: OpenModel;
  problem: string | null;
  /** Milliseconds. */
  loadMs: number | null;
  decisionMs: number | null;
}

export interface EngineModelsDeps<Model extends RunningModel> {
  runner: ModelRunner<Model>;
  world: Pick<World, 'now' | 'elapsed'>;
  /** Stores the models for the next start. */
  save: (text: string) => Promise<void>;
  /** Called after each change. */
  onChange: () => void;
}

export const libraryMissing =
  'node-llama-cpp, which runs local models, is not installed: run gateway engine install';

/** Any question shows that a model works. */
const testDecision = {
  document: 'The sky is blue.',
  questions: [{ instruction: 'Which colour is named?', options: ['blue', 'red'] }],
};

/** The model files that the host's engine runs. Changes happen one after the other. */
export class EngineModels<Model extends RunningModel = RunningModel> {
  readonly #deps: EngineModelsDeps<Model>;
  #models: ReadonlyMap<string, OpenModel<Model>> = new Map();
  readonly #changes = new Mutex();

  constructor(deps: EngineModelsDeps<Model>) {
    this.#deps = deps;
  }

  /** Reads what `save` stored. Throws if it is something else. */
  restore(text: string): void {
    const models = JSON.parse(text) as EngineModel[];
    if (!models.every(({ name, path }) => typeof name === 'string' && typeof path === 'string')) {
      throw new TypeError('a model has no name or path');
    }
    const { runner, onChange } = this.#deps;
    this.#models = new Map(models.map((model) => [model.name, { ...model, running: runner.open(model) }]));
    onChange();
  }

  /** By name. */
  list(): OpenModel<Model>[] {
    return sorted(this.#models);
  }

  get(name: string): OpenModel<Model> | undefined {
    return this.#models.get(name);
  }

  withRole(role: EngineRole): OpenModel<Model> | undefined {
    return this.list().find((model) => model.role === role);
  }

  get isInstalled(): boolean {
    return this.#deps.runner.isInstalled();
  }

  /** Loads the file and asks it a question; it is added only if it answers. Its role is taken from another model. */
  add(asked: NewModel): Promise<OpenModel<Model>> {
    return this.#changes.run(async () => {
      const { runner, world } = this.#deps;
      const { path } = asked;
      const name = asked.name ?? nameOf(path);
      if (this.#models.has(name)) {
        throw new ApiError('conflict', {
          param: 'name',
          message: `There already is a model ${name}: remove it first, or choose another name.`,
        });
      }
      const bytes = await runner.sizeOf(path);
      if (bytes === undefined)
        throw inputFault('path', 'is not a model in the GGUF format on the host of the daemon');
      if (!runner.isInstalled()) throw new ApiError('unavailable', { message: `${libraryMissing}.` });
      const running = runner.open({ name, path, bytes });
      const models = new Map(this.#models);
      try {
        const { architecture, trainedTokens } = await running.load();
        await running.decide(testDecision);
        const sha256 = await running.digest();
        const role = asked.role ?? (this.withRole('engine') ? null : 'engine');
        const facts = { path, bytes, sha256, architecture, trainedTokens };
        const model = { name, ...facts, role, addedAt: world.now(), running };
        const before = role && this.withRole(role);
        if (before) models.set(before.name, { ...before, role: null });
        await this.#replace(models.set(name, model));
        return model;
      } catch (error) {
        await running.close();
        if (!(error instanceof UpstreamFailure)) throw error;
        throw new ApiError('invalid_request', {
          param: 'path',
          message: sentence(name, error),
          cause: error,
        });
      }
    });
  }

  /** Whether the file is the one that was added, and answers. */
  async check(name: string): Promise<ModelCheck> {
    const { world } = this.#deps;
    const model = this.#found(name);
    const { running, sha256 } = model;
    const startedAt = world.elapsed();
    let loadMs: number | null = null;
    try {
      await running.load();
      const loadedAt = world.elapsed();
      loadMs = loadedAt - startedAt;
      await running.decide(testDecision);
      const decisionMs = world.elapsed() - loadedAt;
      const isSame = (await running.digest()) === sha256;
      const problem = isSame ? null : 'The file has changed since it was added: remove it and add it again.';
      return { model, problem, loadMs, decisionMs };
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      return { model, problem: sentence(name, error), loadMs, decisionMs: null };
    }
  }

  /** Ends its process and forgets it; the file stays. */
  remove(name: string): Promise<void> {
    return this.#changes.run(async () => {
      const { running } = this.#found(name);
      const others = this.list().filter((model) => model.name !== name);
      await this.#replace(new Map(others.map((model) => [model.name, model])));
      await running.close();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.list().map(({ running }) => running.close()));
  }

  #found(name: string): OpenModel<Model> {
    const model = this.#models.get(name);
    if (model === undefined) throw notFound('local model', name);
    return model;
  }

  /** Nothing changes if the models cannot be stored. */
  async #replace(models: ReadonlyMap<string, OpenModel<Model>>): Promise<void> {
    const stored = sorted(models).map(({ running: _, ...model }): EngineModel => model);
    await this.#deps.save(JSON.stringify(stored));
    this.#models = models;
    this.#deps.onChange();
  }
}

function sorted<Model extends RunningModel>(models: ReadonlyMap<string, OpenModel<Model>>) {
  return [...models.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The file's name, as far as a model's may be like it. */
function nameOf(path: string): string {
  const file = path.split(/[/\\]/).at(-1) ?? '';
  const name = file
    .replace(/\.gguf$/i, '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-');
  return trimBoth(name, '._-').slice(0, 64) || 'model';
}

/** A failure of a model, which names it first. */
function sentence(name: string, failure: Error): string {
  const message = failure.message.replace(`${name}: `, '');
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`;
}
