import { listModels } from '../../addresses.ts';
import { availableProviders } from '../../commands/models/model-columns.ts';
import type { Context } from '../../context.ts';
import { slashUsages } from './slash-commands.ts';

/** How a line that begins with a slash may go on. */
export interface Suggestion {
  /** The whole line. */
  line: string;
  summary: string;
}

const shownMax = 6;

/** Knows the commands, and, once they are asked for, the models that can be talked with. */
export class Suggestions {
  readonly #context: Context;
  readonly #onChange: () => void;
  #models: string[] | undefined;

  constructor(context: Context, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  /** Best first; none where a line is no command, or is one already. */
  of(text: string): Suggestion[] {
    if (!text.startsWith('/') || text.includes('\n')) return [];
    const model = /^\/model +(\S*)$/.exec(text);
    if (model) return this.#modelsLike(model[1] ?? '');
    return slashUsages()
      .filter(({ name }) => `/${name}`.startsWith(text))
      .map(({ name, usage, summary }) => ({
        line: usage.includes(' ') ? `/${name} ` : `/${name}`,
        summary: `${usage.padEnd(16)}${summary}`,
      }))
      .slice(0, shownMax + 1);
  }

  #modelsLike(part: string): Suggestion[] {
    if (!this.#models) void this.#fetchModels();
    const wanted = part.toLowerCase();
    return (this.#models ?? [])
      .filter((id) => id.toLowerCase().includes(wanted) && id !== part)
      .slice(0, shownMax)
      .map((id) => ({ line: `/model ${id}`, summary: id }));
  }

  async #fetchModels(): Promise<void> {
    this.#models = [];
    try {
      const { data } = await this.#context.client().call(listModels, {});
      this.#models = data.filter((model) => availableProviders(model) !== '').map(({ id }) => id);
    } catch {
      // A name can be written without help.
    }
    this.#onChange();
  }
}
