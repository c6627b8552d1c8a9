import type {} from '../context.ts';
