import type { Conversation } from '../conversation.ts';
import type { ReplyFile, SimulatorScript, TextMatchFile, WhenFile } from './script-file.ts';

/** Values for `{{…}}` in a reply. */
export type Placeholders = Record<string, string>;

export interface Matched {
  reply: ReplyFile;
  placeholders: Placeholders;
}

/** Creates a matcher that finds the rule for each request and counts the answers of each rule. */
export function createRuleMatcher(script: SimulatorScript) {
  const rules = (script.rules ?? []).map((reply) => ({
    reply,
    match: compileCondition(reply.when ?? {}),
    remaining: reply.times ?? (reply.once ? 1 : Number.POSITIVE_INFINITY),
  }));
  return {
    find(models: readonly string[], conversation: Conversation): Matched | undefined {
      for (const rule of rules) {
        const groups = rule.remaining > 0 ? rule.match(models, conversation) : undefined;
        if (!groups) continue;
        rule.remaining -= 1;
        return { reply: rule.reply, placeholders: placeholdersOf(models, conversation, groups) };
      }
      const reply = script.default;
      return reply && { reply, placeholders: placeholdersOf(models, conversation, {}) };
    },
  };
}

/** Returns the groups captured by the expressions of a condition; undefined if it is not met. */
type Condition = (models: readonly string[], conversation: Conversation) => Placeholders | undefined;

function compileCondition(when: WhenFile): Condition {
  const globs = when.model === undefined ? undefined : [when.model].flat().map(globPattern);
  const matchesSystem = compileTextMatch(when.system);
  const matchesMessage = compileTextMatch(when.message);
  const expected = when.tool_result;
  const toolName = typeof expected === 'object' ? expected.name : undefined;
  const matchesResult = compileTextMatch(expected === true ? undefined : expected);

  return (models, { userText, systemText, toolResults, attachments, tools, turn }) => {
    if (globs && !globs.some((glob) => models.some((model) => glob.test(model)))) return;
    if (when.turn !== undefined && when.turn !== turn) return;
    if (typeof when.tools === 'boolean' && when.tools !== tools.length > 0) return;
    if (typeof when.tools === 'string' && !tools.some(({ name }) => name === when.tools)) return;
    if (when.images !== undefined && when.images !== attachments.images > 0) return;

    const groups: Placeholders = {};
    if (!matchesSystem(systemText, groups)) return;
    // Otherwise a rule that calls a tool would match again after the result, in an endless loop.
    if (when.message !== undefined && expected === undefined && toolResults.length > 0) return;
    if (!matchesMessage(userText, groups)) return;
    const hasResult = toolResults.some(
      ({ name, text }) => (toolName === undefined || toolName === name) && matchesResult(text, groups),
    );
    return expected === undefined || hasResult ? groups : undefined;
  };
}

/** Whether a text matches; adds captured groups. */
type TextMatcher = (text: string, groups: Placeholders) => boolean;

/** `contains` and `matches` ignore case. */
function compileTextMatch(match: string | TextMatchFile | undefined): TextMatcher {
  const { contains, equals, matches }: TextMatchFile =
    typeof match === 'string' ? { contains: match } : (match ?? {});
  const pattern = matches === undefined ? undefined : new RegExp(matches, 'iu');
  return (text, groups) => {
    if (contains !== undefined && !text.toLowerCase().includes(contains.toLowerCase())) return false;
    if (equals !== undefined && text.trim() !== equals.trim()) return false;
    if (!pattern) return true;
    const found = pattern.exec(text);
    if (!found) return false;
    for (const [at, group] of found.entries()) if (at > 0) groups[String(at)] = group ?? '';
    for (const [name, group] of Object.entries(found.groups ?? {})) groups[name] = group ?? '';
    return true;
  };
}

/** Converts a glob to a pattern: `*` matches any characters, `?` exactly one. */
function globPattern(glob: string): RegExp {
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${pattern}$`, 'i');
}

function placeholdersOf(
  models: readonly string[],
  { userText, toolResults, turn }: Conversation,
  groups: Placeholders,
): Placeholders {
  return {
    message: userText,
    tool_result: toolResults.map(({ text }) => text).join('\n'),
    turn: String(turn),
    model: models[0] ?? '',
    ...groups,
  };
}

/** Replaces each `{{name}}` in a text, or in all texts in a list or map. Unknown names are left unchanged. */
export function fillIn<T>(value: T, placeholders: Placeholders): T {
  return fill(value, placeholders) as T;
}

function fill(value: unknown, placeholders: Placeholders): unknown {
  if (typeof value === 'string') {
    return value.replace(/\{\{ ?([\w]+) ?\}\}/g, (written, name: string) =>
      Object.hasOwn(placeholders, name) ? (placeholders[name] ?? '') : written,
    );
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, placeholders));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fill(member, placeholders)]));
}
