import { isObject, type Json } from '../../json.ts';

/** The output of a tool that consists of nothing but images and files. */
export const attachedText = 'See the next message.';

/**
 * The messages with images and files of tools in a message of the user after them, as tool messages can only have text and must follow
 * each other. The same list if there are none. Source: CommandCodeAI/command-code#795, experientiallabs/experiential#961.
 */
export function withoutToolAttachments(messages: readonly unknown[]): readonly unknown[] {
  if (!messages.some((message) => attachmentsOf(message).length > 0)) return messages;
  const plain: unknown[] = [];
  let attachments: unknown[] = [];
  const attach = () => {
    if (attachments.length > 0) plain.push({ role: 'user', content: attachments });
    attachments = [];
  };
  for (const message of messages) {
    if (!isOutput(message)) attach();
    const own = attachmentsOf(message);
    plain.push(own.length > 0 ? withoutParts(message as Json, new Set(own)) : message);
    attachments.push(...own);
  }
  attach();
  return plain;
}

function isOutput(message: unknown): message is Json {
  return isObject(message) && message.role === 'tool';
}

function attachmentsOf(message: unknown): unknown[] {
  if (!isOutput(message) || !Array.isArray(message.content)) return [];
  return message.content.filter((part) => isObject(part) && part.type !== 'text' && part.type !== 'refusal');
}

function withoutParts(message: Json, attachments: ReadonlySet<unknown>): Json {
  const texts = (message.content as unknown[]).filter((part) => !attachments.has(part));
  return { ...message, content: texts.length > 0 ? texts : attachedText };
}
