import { type CallLabels, noLabels } from '../../../../shared/constants/call-labels.ts';

/** The labels of a running call as a JSON array, in the order of its columns in `calls`; null if it has none. */
export function labelsText(labels: CallLabels): string | null {
  if (labels === noLabels) return null;
  const { client, user, conversation, tags, replayOf } = labels;
  return JSON.stringify([client, user, conversation, tagsText(tags), replayOf]);
}

export function readLabelsText(text: string | null): CallLabels {
  if (text === null) return noLabels;
  const [client, user, conversation, tags, replayOf] = JSON.parse(text) as (string | null)[];
  return {
    client: client ?? null,
    user: user ?? null,
    conversation: conversation ?? null,
    tags: readTags(tags ?? null),
    replayOf: replayOf ?? null,
  };
}

/** Tags as a JSON array of `name=value`; null if there are none. */
export function tagsText(tags: CallLabels['tags']): string | null {
  let texts: string[] | undefined;
  for (const name in tags) {
    texts ??= [];
    texts.push(`${name}=${tags[name]}`);
  }
  return texts ? JSON.stringify(texts) : null;
}

export function readTags(text: string | null): CallLabels['tags'] {
  return text === null ? noLabels.tags : tagsOf(JSON.parse(text) as string[]);
}

export function tagsOf(texts: readonly string[]): CallLabels['tags'] {
  return Object.fromEntries(
    texts.map((text) => {
      const end = text.indexOf('=');
      return [text.slice(0, end), text.slice(end + 1)];
    }),
  );
}
