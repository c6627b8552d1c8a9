/** For what a call goes on to its next route, besides failures of providers. */
export const fallbackReasons = ['context_length', 'content_filter', 'empty'] as const;

export type FallbackReason = (typeof fallbackReasons)[number];
