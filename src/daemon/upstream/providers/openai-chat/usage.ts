import { listOf } from '../../../../shared/json/json-object.ts';
import type { Tokens } from '../../../../shared/money/money.ts';
import type { Json } from '../../json.ts';
import { objectOf } from '../../json.ts';

/** The usage in a document or chunk: `usage`, Groq's `x_groq.usage`, or that of a choice, as Moonshot writes it. */
export function chatUsageIn({ usage, x_groq, choices }: Json): Json | undefined {
  const ofChoice = () => objectOf(objectOf(listOf(choices)[0])?.usage);
  return objectOf(usage) ?? objectOf(objectOf(x_groq)?.usage) ?? ofChoice();
}

/** Later usage with the counts of earlier usage that it has as 0. */
export function laterTokens(earlier: Tokens | undefined, later: Tokens): Tokens {
  if (earlier === undefined || (later.input > 0 && later.output > 0)) return later;
  const { input, cachedInput, cacheWrite, output, reasoning } = earlier;
  return {
    ...later,
    ...(later.input === 0 && { input, cachedInput, cacheWrite }),
    ...(later.output === 0 && { output, reasoning }),
  };
}
