import 'node:timers/promises';
