import type {} from './planted-no-cycles.ts';
