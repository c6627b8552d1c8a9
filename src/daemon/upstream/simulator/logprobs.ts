interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[];
}

/** One entry of `logprobs` on output text, in the shape of the Responses format. */
export interface Logprob extends TokenLogprob {
  top_logprobs: TokenLogprob[];
}

const otherTokens =
  ' the| a| of| and| to| in| is| that| it| for| as| with| on| be| this| by| an| are| or| from| at'.split('|');

/**
 * Invented but well-formed: a token always has the same probability, the alternatives start with the token itself, fall,
 * and add up to less than one.
 */
export function logprobsOf(tokens: readonly string[], topLogprobs: number): Logprob[] {
  return tokens.map((token) => {
    const probability = 0.55 + (hash(token) % 4000) / 10_000;
    const chosen = entry(token, probability);
    const top = topLogprobs > 0 ? [chosen] : [];
    let left = 1 - probability;
    for (const other of otherTokens) {
      if (top.length >= topLogprobs) break;
      if (other === token) continue;
      left /= 2;
      top.push(entry(other, left));
    }
    return { ...chosen, top_logprobs: top };
  });
}

function entry(token: string, probability: number): TokenLogprob {
  return {
    token,
    logprob: Math.round(Math.log(probability) * 1e6) / 1e6,
    bytes: [...Buffer.from(token)],
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value >>> 0;
}
