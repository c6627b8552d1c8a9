import { ApiError } from './errors.ts';

/** What is not accepted of an input that its contract lets pass; `what` goes on after the name of the field. */
export function inputFault(param: string, what: string): ApiError {
  return new ApiError('invalid_request', { param, message: `\`${param}\` ${what}.` });
}

/**
 * The value itself, whose texts are to be kept. Fails for half a surrogate pair in any of them: it is text for JSON but not
 * for UTF-8, and would be kept as another text.
 */
export function wellFormed<Value>(value: Value, param: string): Value {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw inputFault(param, 'is not valid Unicode');
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => void wellFormed(item, `${param}[${index}]`));
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (!name.isWellFormed()) throw inputFault(param, 'is not valid Unicode');
      wellFormed(member, `${param}.${name}`);
    }
  }
  return value;
}

/** The same of all members of a body, each by its own name. */
export function wellFormedMembers<Body extends object>(body: Body): Body {
  for (const [name, value] of Object.entries(body)) wellFormed(value, name);
  return body;
}
