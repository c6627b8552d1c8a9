import { alertUnits } from '../../../shared/constants/alert-kinds.ts';
import { dollarText } from '../../../shared/money/money.ts';
import type { Sample } from './sample.ts';
import type { AlertCondition } from './store.ts';
import { valueText } from './units.ts';

/** Why an alert fires, in a sentence. */
export function firedMessage(condition: AlertCondition, value: number, { benched }: Sample): string {
  const { kind, threshold } = condition;
  const calls = callsOf(condition);
  const limit = threshold === null ? '' : ` The threshold is ${shown(condition, threshold)}.`;
  const within = `in the last ${windowText(condition.windowMinutes)}`;
  const amount = shown(condition, value);
  switch (kind) {
    case 'spend':
      return `${capital(calls)} cost ${amount} ${within}.${limit}`;
    case 'error_share':
      return `${amount} of ${calls} failed ${within}.${limit}`;
    case 'p95_total':
      return `The slowest 5 % of ${calls} took ${amount} or longer ${within}.${limit}`;
    case 'p95_first_token':
      return `The slowest 5 % of ${calls} waited ${amount} or longer for the first token ${within}.${limit}`;
    case 'rejections':
      return `${value} of ${calls} ${value === 1 ? 'was' : 'were'} rejected ${within}.${limit}`;
    case 'benched':
      return `Benched ${within}: ${[...benched].sort().join(', ')}.`;
    case 'silence':
      return `There were no calls${calls === 'all calls' ? '' : ` ${filterText(condition)}`} ${within}.`;
  }
}

/** That an alert has resolved, in a sentence. */
export function resolvedMessage(condition: AlertCondition, value: number | null): string {
  const calls = callsOf(condition);
  const within = `in the last ${windowText(condition.windowMinutes)}`;
  switch (condition.kind) {
    case 'benched':
      return `No provider was benched ${within}.`;
    case 'silence':
      return `There are calls${calls === 'all calls' ? '' : ` ${filterText(condition)}`} again.`;
    default:
      if (value === null) return `There were no calls to count ${within}.`;
      return `Resolved: ${shown(condition, value)} for ${calls} ${within}.`;
  }
}

/** `15 minutes`, `hour`, `6 hours`, `day`: after "the last". */
export function windowText(minutes: number): string {
  if (minutes % 1440 === 0) return counted(minutes / 1440, 'day');
  return minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute');
}

const counted = (count: number, unit: string) => (count === 1 ? unit : `${count} ${unit}s`);

function callsOf(condition: AlertCondition): string {
  const filter = filterText(condition);
  return filter === '' ? 'all calls' : `the calls ${filter}`;
}

function filterText({ keyId, model, provider }: AlertCondition): string {
  const parts = [
    keyId === null ? undefined : `with ${keyId}`,
    model === null ? undefined : `of ${model}`,
    provider === null ? undefined : `at ${provider}`,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

function shown({ kind }: AlertCondition, value: number): string {
  const text = valueText(kind, value);
  const unit = alertUnits[kind];
  if (unit === 'usd') return dollarText(text);
  if (unit === 'percent') return `${text} %`;
  if (unit === 'ms') return value < 1000 ? `${text} ms` : `${Number((value / 1000).toPrecision(3))} s`;
  return text;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
