import type { Inference } from '../../features/upstreams/neutral.ts';
import type { Content } from './answer.ts';
import { countRecognized, isReasoning, summaryOf } from './compose.ts';
import type { Conversation, ToolResult } from './conversation.ts';
import { joinWords, plural, quote } from './format-text.ts';
import { jsonFor } from './schema-values.ts';
import { chooseTools, planCall } from './tool-choice.ts';

const quotedCharsMax = 240;
const writtenWordsMax = 12_000;

/** The answer of `sim/assistant` to a request without a matching rule. */
export function assistantContent(inference: Inference, conversation: Conversation, model: string): Content {
  const { plan, ...answer } = planAnswer(inference, conversation, model);
  const reasoning = isReasoning(inference) ? summaryOf(inference, conversation, plan) : [];
  return { reasoning, finish: 'stop', ...answer };
}

/** The answer without reasoning, and a short description of the plan behind it. */
function planAnswer(
  inference: Inference,
  conversation: Conversation,
  model: string,
): Pick<Content, 'text' | 'calls'> & { plan: string } {
  const chosen = chooseTools(inference, conversation);
  if (chosen.length > 0) {
    const names = chosen.map(({ name }) => name);
    return {
      calls: chosen.map((tool) => planCall(tool, conversation)),
      plan: `Calling ${joinWords(names)} brings the answer nearer.`,
    };
  }
  const { format } = inference;
  if (format?.type === 'json_schema') {
    const text = JSON.stringify(jsonFor(format.schema, conversation, { wire: inference.wire }));
    return { text, calls: [], plan: `The answer must fit the schema ${format.name}.` };
  }
  const text = prose(inference, conversation, model);
  if (format?.type === 'json_object') {
    return { text: JSON.stringify({ answer: text }), calls: [], plan: 'The answer must be a JSON object.' };
  }
  return { text, calls: [], plan: 'Plain text will do.' };
}

function prose(inference: Inference, conversation: Conversation, model: string): string {
  const { toolResults, userText, attachments } = conversation;
  const sentences = toolResults.length > 0 ? toolResults.map(resultSentence) : [];
  if (sentences.length === 0 && userText.trim() !== '') {
    sentences.push(`You said: ${quote(userText, quotedCharsMax)}`);
  }
  const attachmentPhrases = [
    ...(attachments.images > 0 ? [plural(attachments.images, 'image')] : []),
    ...(attachments.files.length > 0 ? [filesPhrase(attachments.files)] : []),
  ];
  if (attachmentPhrases.length > 0) sentences.push(`I received ${joinWords(attachmentPhrases)}.`);
  if (sentences.length === 0) sentences.push('I received no text.');
  const recognized = countRecognized(inference.items, model);
  if (recognized > 0) sentences.push(`I remember my thoughts from ${plural(recognized, 'earlier step')}.`);
  if (inference.verbosity !== 'low') {
    sentences.push('I am the built-in simulator: the same request always gets this same answer.');
  }
  return padToLength(sentences.join(' '), requestedWords(userText));
}

function resultSentence({ name, text }: ToolResult): string {
  const tool = name === '' ? 'The tool' : `The tool ${name}`;
  return text.trim() === ''
    ? `${tool} answered nothing.`
    : `${tool} answered: ${quote(text, quotedCharsMax)}`;
}

function filesPhrase(files: readonly string[]): string {
  const names = files.filter(Boolean);
  return `${plural(files.length, 'file')}${names.length > 0 ? ` (${names.join(', ')})` : ''}`;
}

/** The number in prompts such as `Write 300 words about …`. */
function requestedWords(text: string): number {
  const requested = Number(/\b(\d{1,6})[ -]words?\b/i.exec(text.slice(0, 4000))?.[1] ?? 0);
  return Math.min(requested, writtenWordsMax);
}

const filler = (
  'Words follow here because you asked for this many. They carry no meaning, but they have the shape of prose: ' +
  'short sentences and longer ones, a comma now and then, and paragraphs of a decent size. Use them to see how your ' +
  'program draws a long answer, scrolls while it grows, and stops when you ask it to. Nothing here was made up on the ' +
  'way: the next run writes the same words in the same order.'
).split(' ');

function padToLength(text: string, wordCount: number): string {
  const words = text.split(' ');
  if (words.length >= wordCount) return text;
  const added = Array.from({ length: wordCount - words.length }, (_, at) => {
    const word = filler[at % filler.length] ?? '';
    const startsParagraph = at % filler.length === 0;
    return `${startsParagraph ? '\n\n' : ' '}${word}`;
  });
  return text + added.join('');
}
