import type { Whisper, WhisperThread } from '../../../shared/contract/whispers.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';

export const whisperColumns = (now: number): Column<Whisper>[] => [
  { title: 'id', value: ({ id }) => id, align: 'right' },
  { title: 'from', value: ({ sender }) => sender.handle },
  { title: 'to', value: ({ recipient }) => recipient.handle },
  { title: 'text', value: ({ body }) => body },
  { title: 'sent', value: ({ createdAt }) => createdAt, show: ({ createdAt }) => ago(createdAt, now) },
  {
    title: 'read',
    value: ({ readAt }) => readAt,
    show: ({ readAt }) => (readAt === null ? 'no' : ago(readAt, now)),
    style: ({ readAt }) => (readAt === null ? 'bold' : 'dim'),
    isSpare: true,
  },
];

export const threadColumns = (now: number): Column<WhisperThread>[] => [
  { title: 'with', value: ({ peer }) => peer.handle },
  { title: 'name', value: ({ peer }) => peer.name, isSpare: true },
  {
    title: 'unread',
    value: ({ unread }) => unread,
    style: ({ unread }) => (unread > 0 ? 'bold' : 'dim'),
    align: 'right',
  },
  { title: 'last', value: ({ last }) => last.body },
  { title: 'at', value: ({ last }) => last.createdAt, show: ({ last }) => ago(last.createdAt, now) },
];
