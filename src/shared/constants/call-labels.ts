/** Who made a call and for what, as the call itself states. */
export interface CallLabels {
  /** The program, by its `User-Agent`: `claude-cli/2.1.4`. */
  client: string | null;
  /** The end user for whom it was made. */
  user: string | null;
  /** The conversation, thread or session that it belongs to. */
  conversation: string | null;
  tags: Readonly<Record<string, string>>;
  /** The id of the request that it repeats. */
  replayOf: string | null;
}

/** The labels of a call that states none. */
export const noLabels: CallLabels = Object.freeze({
  client: null,
  user: null,
  conversation: null,
  tags: Object.freeze({}),
  replayOf: null,
});

// The limits of labels, which headers and the member `service` share.

export const labelCharactersMax = 128;
export const tagsMax = 8;
export const tagNamePattern = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$';
const tagValueCharactersMax = 64;

/** One line of printable characters without a comma, which separates tags in a header. */
export const tagValuePattern = `^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029,]{1,${tagValueCharactersMax}}$`;

// From the space to `~`, without the comma.
const headerTag = `[A-Za-z0-9][A-Za-z0-9_.-]{0,31}=[ -+--~]{1,${tagValueCharactersMax}}`;

/** `team=a,job=7`: as many pairs as a call may have. */
export const tagsHeaderPattern = `^${headerTag}(,${headerTag}){0,${tagsMax - 1}}$`;

/** Printable ASCII, not beginning or ending with a space. */
export const labelHeaderPattern = `^[!-~]([ -~]{0,${labelCharactersMax - 2}}[!-~])?$`;

export const requestIdPattern = '^req_[0-9a-z]{26}$';

/** Reads `team=a,job=7`, of which the form was checked; of two tags with the same name the last one counts. */
export function parseTags(text: string): Record<string, string> {
  const tags: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const end = pair.indexOf('=');
    tags[pair.slice(0, end)] = pair.slice(end + 1);
  }
  return tags;
}
