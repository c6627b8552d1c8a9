import type { Conversation } from '../conversation.ts';
import type { Condition, Reply, Rule, SimulatorScript, TextMatch } from './script.ts';

/** Values for `{{…}}` in a reply. */
export type Placeholders = Record<string, string>;

export interface Matched {
  reply: Reply;
  placeholders: Placeholders;
}

/** Creates a matcher that finds the rule for each request and counts the answers of each rule. */
export function createRuleMatcher(script: SimulatorScript) {
  const remaining = new Map<Rule, number>(script.rules.map((rule) => [rule, rule.times]));
  return {
    find(models: readonly string[], conversation: Conversation): Matched | undefined {
      for (const rule of script.rules) {
        const times = remaining.get(rule) ?? 0;
        if (times <= 0) continue;
        const groups = matchCondition(rule.condition, models, conversation);
        if (!groups) continue;
        remaining.set(rule, times - 1);
        return { reply: rule.reply, placeholders: placeholdersOf(models, conversation, groups) };
      }
      const { fallback } = script;
      return fallback && { reply: fallback, placeholders: placeholdersOf(models, conversation, {}) };
    },
  };
}

/** The groups captured by the expressions of a condition; undefined if it is not met. */
function matchCondition(
  condition: Condition,
  models: readonly string[],
  conversation: Conversation,
): Placeholders | undefined {
  const { userText, systemText, toolResults, attachments, tools, turn } = conversation;
  if (condition.models && !condition.models.some((glob) => models.some((model) => glob.test(model)))) return;
  if (condition.turn !== undefined && condition.turn !== turn) return;
  if (typeof condition.tools === 'boolean' && condition.tools !== tools.length > 0) return;
  if (typeof condition.tools === 'string' && !tools.some(({ name }) => name === condition.tools)) return;
  if (condition.images !== undefined && condition.images !== attachments.images > 0) return;

  const groups: Placeholders = {};
  const holds = (match: TextMatch | undefined, text: string) => !match || matchText(match, text, groups);
  if (!holds(condition.system, systemText)) return;
  // Otherwise a rule that calls a tool would match again after the result, in an endless loop.
  if (condition.message && !condition.toolResult && toolResults.length > 0) return;
  if (!holds(condition.message, userText)) return;
  const expected = condition.toolResult;
  const isAnswered =
    !expected ||
    toolResults.some(
      ({ name, text }) =>
        (expected.name === undefined || expected.name === name) && holds(expected.text, text),
    );
  return isAnswered ? groups : undefined;
}

function matchText({ contains, equals, matches }: TextMatch, text: string, groups: Placeholders): boolean {
  if (contains !== undefined && !text.toLowerCase().includes(contains.toLowerCase())) return false;
  if (equals !== undefined && text.trim() !== equals.trim()) return false;
  if (!matches) return true;
  const match = matches.exec(text);
  if (!match) return false;
  for (const [at, group] of match.entries()) if (at > 0) groups[String(at)] = group ?? '';
  for (const [name, group] of Object.entries(match.groups ?? {})) groups[name] = group ?? '';
  return true;
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
