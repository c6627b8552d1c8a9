/** What a part of a request is. */
export const partKinds = [
  'system',
  'tool',
  'message',
  'tool_call',
  'tool_result',
  'reasoning',
  'image',
  'audio',
  'file',
  'parameter',
] as const;

export type PartKind = (typeof partKinds)[number];
