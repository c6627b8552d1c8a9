import 'ink';
