import type { Inference } from '../../features/inference/neutral.ts';
import type { Content } from './answer.ts';
import type { Conversation, ToolResult } from './conversation.ts';
import { countRecalled, isReasoning, summaryOf } from './reasoning.ts';
import { jsonFor } from './schema-values.ts';
import { chooseTools, planCall } from './tool-choice.ts';
import { listed, plural, quote } from './wording.ts';

const quotedCharsMax = 240;
const writtenWordsMax = 12_000;

/** What `sim/assistant` says to a request that no rule answers. */
export function assistantContent(inference: Inference, conversation: Conversation, model: string): Content {
  const { plan, ...said } = sayOrCall(inference, conversation, model);
  const reasoning = isReasoning(inference) ? summaryOf(inference, conversation, plan) : [];
  return { reasoning, finish: 'stop', ...said };
}

/** The answer without its reasoning, and in a few words the plan behind it. */
function sayOrCall(
  inference: Inference,
  conversation: Conversation,
  model: string,
): Pick<Content, 'text' | 'calls'> & { plan: string } {
  const chosen = chooseTools(inference, conversation);
  if (chosen.length > 0) {
    const names = chosen.map(({ name }) => name);
    return {
      calls: chosen.map((tool) => planCall(tool, conversation)),
      plan: `Calling ${listed(names)} brings the answer nearer.`,
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
  const things = [
    ...(attachments.images > 0 ? [plural(attachments.images, 'image')] : []),
    ...(attachments.files.length > 0 ? [filesPhrase(attachments.files)] : []),
  ];
  if (things.length > 0) sentences.push(`I received ${listed(things)}.`);
  if (sentences.length === 0) sentences.push('I received no text.');
  const recalled = countRecalled(inference.items, model);
  if (recalled > 0) sentences.push(`I remember my thoughts from ${plural(recalled, 'earlier step')}.`);
  if (inference.verbosity !== 'low') {
    sentences.push('I am the built-in simulator: the same request always gets this same answer.');
  }
  return lengthened(sentences.join(' '), wordsAskedFor(userText));
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

/** `Write 300 words about …` asks for 300. */
function wordsAskedFor(text: string): number {
  const asked = Number(/\b(\d{1,6})[ -]words?\b/i.exec(text.slice(0, 4000))?.[1] ?? 0);
  return Math.min(asked, writtenWordsMax);
}

const filler = (
  'Words follow here because you asked for this many. They carry no meaning, but they have the shape of prose: ' +
  'short sentences and longer ones, a comma now and then, and paragraphs of a decent size. Use them to see how your ' +
  'program draws a long answer, scrolls while it grows, and stops when you ask it to. Nothing here was made up on the ' +
  'way: the next run writes the same words in the same order.'
).split(' ');

function lengthened(text: string, wordCount: number): string {
  const words = text.split(' ');
  if (words.length >= wordCount) return text;
  const added = Array.from({ length: wordCount - words.length }, (_, at) => {
    const word = filler[at % filler.length] ?? '';
    const startsParagraph = at % filler.length === 0;
    return `${startsParagraph ? '\n\n' : ' '}${word}`;
  });
  return text + added.join('');
}
