import { Box, Text } from 'ink';

/** Lines that were already cut to their pane. */
export function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <Box flexDirection="column">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen and nothing else.
        <Text key={at} wrap="truncate">
          {line === '' ? ' ' : line}
        </Text>
      ))}
    </Box>
  );
}
