import type { Inference } from '../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { type Content, immediately, type SimulatedAnswer } from './answer.ts';
import { assistantContent } from './assistant.ts';
import type { Conversation } from './conversation.ts';
import { type Behaviour, brokenAfterTokens, limitedRetryAfterSeconds, slowPace } from './models.ts';
import { takeWords } from './tokens.ts';

/** How the built-in models answer requests without a matching rule. Counts the calls of `sim/flaky`. */
export function createBehaviours() {
  let flakyCalls = 0;

  return {
    answer(
      behaviour: Behaviour,
      inference: Inference,
      conversation: Conversation,
      model: string,
    ): SimulatedAnswer {
      const assistant = (): Content => assistantContent(inference, conversation, model);
      switch (behaviour) {
        case 'assistant':
          return { content: assistant(), pace: immediately };
        case 'echo':
          return { content: textContent(conversation.userText), pace: immediately };
        case 'slow':
          return { content: assistant(), pace: slowPace };
        case 'flaky':
          flakyCalls += 1;
          return flakyCalls % 2 === 1
            ? failureAnswer(
                new UpstreamFailure('server', 'sim/flaky fails every other call.', { status: 503 }),
              )
            : { content: assistant(), pace: immediately };
        case 'broken': {
          const error = new UpstreamFailure('broken', 'sim/broken always breaks off.');
          return {
            content: assistant(),
            pace: immediately,
            failure: { error, afterTokens: brokenAfterTokens },
          };
        }
        case 'limited':
          return failureAnswer(
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
            pace: immediately,
          };
        case 'filtered':
          return { content: filteredContent(inference, conversation, model), pace: immediately };
      }
    },
  };
}

function textContent(text: string): Content {
  return { reasoning: [], text, calls: [], finish: 'stop' };
}

function failureAnswer(error: UpstreamFailure): SimulatedAnswer {
  return { content: textContent(''), pace: immediately, failure: { error, afterTokens: undefined } };
}

/** The start of a text answer: tool calls are never filtered. */
function filteredContent(inference: Inference, conversation: Conversation, model: string): Content {
  const { text = '' } = assistantContent(inference, { ...conversation, tools: [] }, model);
  const { words } = takeWords(text, brokenAfterTokens);
  return { ...textContent(words.map((word) => word.text).join('')), finish: 'content_filter' };
}
