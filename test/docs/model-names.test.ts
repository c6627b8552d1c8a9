import { glob, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadPriceLibrary } from '../../src/daemon/features/catalog/price-library.ts';

const sources = { gpt: 'openai', claude: 'anthropic', gemini: 'google' } as const;

test('models that the documentation names can be called, and are not about to end', async () => {
  const library = await loadPriceLibrary();
  // The SDK warns about these, with the date of their end.
  const sdk = import.meta.resolve('@anthropic-ai/sdk');
  const ending = await readFile(new URL('internal/data/deprecated-models.js', sdk), 'utf8');
  expect(ending).toContain("'claude-");
  const named = new Set<string>();
  for await (const path of glob(['README.md', 'docs/*.md'])) {
    const text = await readFile(path, 'utf8');
    // Without patterns such as `claude-*`, and the names of others' features such as `claude-code`.
    for (const [name] of text.matchAll(/\b(?:gpt|claude|gemini)-[\w.-]*\d[\w.-]*/g))
      named.add(name.replace(/[.-]+$/, ''));
  }
  expect(named.size).toBeGreaterThan(5);
  for (const name of named) {
    const source = sources[name.slice(0, name.indexOf('-')) as keyof typeof sources];
    const isListed =
      library.names(source).includes(name) || library.find(source, name, Date.now()) !== undefined;
    expect(isListed, `${name} is in the price library`).toBe(true);
    expect(ending, `${name} ends`).not.toContain(`'${name}'`);
  }
});
