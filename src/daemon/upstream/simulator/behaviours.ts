import type { Inference } from '../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../features/inference/upstream.ts';
import { type Answer, atOnce, type Content } from './answer.ts';
import { assistantContent } from './assistant.ts';
import type { Conversation } from './conversation.ts';
import { type Behaviour, brokenAfterTokens, limitedRetryAfterSeconds, slowPace } from './models.ts';
import { takeWords } from './tokens.ts';

/** What the built-in models do to requests that no rule answers. Counts the calls of `sim/flaky`. */
export function behaviours() {
  let flakyCalls = 0;

  return {
    answer(behaviour: Behaviour, inference: Inference, conversation: Conversation, model: string): Answer {
      const assistant = (): Content => assistantContent(inference, conversation, model);
      switch (behaviour) {
        case 'assistant':
          return { content: assistant(), pace: atOnce };
        case 'echo':
          return { content: textContent(conversation.userText), pace: atOnce };
        case 'slow':
          return { content: assistant(), pace: slowPace };
        case 'flaky':
          flakyCalls += 1;
          return flakyCalls % 2 === 1
            ? failing(new UpstreamFailure('server', 'sim/flaky fails every other call.', { status: 503 }))
            : { content: assistant(), pace: atOnce };
        case 'broken': {
          const error = new UpstreamFailure('broken', 'sim/broken always breaks off.');
          return { content: assistant(), pace: atOnce, failure: { error, afterTokens: brokenAfterTokens } };
        }
        case 'limited':
          return failing(
            new UpstreamFailure('rate-limited', 'sim/limited is always rate limited.', {
              status: 429,
              retryAfterSeconds: limitedRetryAfterSeconds,
            }),
          );
        case 'refuses':
          return {
            content: {
              reasoning: [],
              refusal: 'I’m sorry, but I can’t help with that.',
              calls: [],
              finish: 'stop',
            },
            pace: atOnce,
          };
        case 'filtered':
          return { content: filtered(inference, conversation, model), pace: atOnce };
      }
    },
  };
}

function textContent(text: string): Content {
  return { reasoning: [], text, calls: [], finish: 'stop' };
}

function failing(error: UpstreamFailure): Answer {
  return { content: textContent(''), pace: atOnce, failure: { error, afterTokens: undefined } };
}

/** The start of an answer in text: what a filter stops is never a call. */
function filtered(inference: Inference, conversation: Conversation, model: string): Content {
  const { text = '' } = assistantContent(inference, { ...conversation, tools: [] }, model);
  const { words } = takeWords(text, brokenAfterTokens);
  return { ...textContent(words.map((word) => word.text).join('')), finish: 'content_filter' };
}
