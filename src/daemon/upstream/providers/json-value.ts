import { isObject, parseObject } from '../answer-bodies.ts';

/** An object of JSON that came from outside. */
export type Json = Record<string, unknown>;

/** The value, if it is a JSON object. */
export function objectOf(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined;
}

/** The value, if it is a list; else an empty one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value, if it is a whole number from 0. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** The arguments of a call as the object that providers with object arguments insist on. */
export function argumentsObject(text: string): Json {
  return parseObject(text) ?? (text.trim() === '' ? {} : { value: text });
}
