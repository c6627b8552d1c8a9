import type { Conversation } from '../conversation.ts';
import type { Condition, Reply, Rule, SimulatorScript, TextMatch } from './script.ts';

/** Values for the `{{…}}` of a reply. */
export type Placeholders = Record<string, string>;

export interface Matched {
  reply: Reply;
  placeholders: Placeholders;
}

/** Finds the rule for each request of one simulator, and remembers how often each has answered. */
export function ruleBook(script: SimulatorScript) {
  const left = new Map<Rule, number>(script.rules.map((rule) => [rule, rule.times]));
  return {
    find(models: readonly string[], conversation: Conversation): Matched | undefined {
      for (const rule of script.rules) {
        const times = left.get(rule) ?? 0;
        if (times <= 0) continue;
        const groups = matchCondition(rule.condition, models, conversation);
        if (!groups) continue;
        left.set(rule, times - 1);
        return { reply: rule.reply, placeholders: placeholdersOf(models, conversation, groups) };
      }
      const { otherwise } = script;
      return otherwise && { reply: otherwise, placeholders: placeholdersOf(models, conversation, {}) };
    },
  };
}

/** What the expressions of a condition captured, or undefined when it does not hold. */
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
  // Otherwise a rule that calls a tool would match again when the result comes, and go round in circles.
  if (condition.message && !condition.toolResult && toolResults.length > 0) return;
  if (!holds(condition.message, userText)) return;
  const wanted = condition.toolResult;
  const isAnswered =
    !wanted ||
    toolResults.some(
      ({ name, text }) => (wanted.name === undefined || wanted.name === name) && holds(wanted.text, text),
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

/** Puts values into each `{{name}}` of a text, or of all texts in a list or map. An unknown name is left as written. */
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
