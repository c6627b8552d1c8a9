import 'node:util';
