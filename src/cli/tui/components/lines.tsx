import { Box, Text } from 'ink';
import { guardText } from '../../output/guarded-io.ts';

/** Lines that already fit their pane. */
export function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <Box flexDirection="column">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line has no identity but its position.
        <Text key={at} wrap="truncate">
          {line === '' ? ' ' : guardText(line)}
        </Text>
      ))}
    </Box>
  );
}
