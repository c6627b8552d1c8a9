import { Command } from '@commander-js/extra-typings';
import type { ThreadMessage } from '../../../shared/contract/threads.ts';
import { getThread, listThreadMessages } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { visible, visibleCell } from '../../output/visible.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';

export const showThreadCommand = (context: Context) =>
  new Command('show')
    .argument('<id>', 'the id of the thread, th_…')
    .option('--limit <count>', 'at most so many messages, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway threads show th_01jd…'))
    .action(async (id, { limit }) => {
      const params = { id };
      const { thread } = await context.client().call(getThread, { params });
      const messages = await collectPages(limit, (query) =>
        context.client().call(listThreadMessages, { params, query }),
      );
      if (context.out.wantsJson()) return context.out.document({ ...thread, messages });
      if (thread.title !== null) context.out.note(thread.title);
      if (thread.working) context.out.note(`A call is under way: gateway threads watch ${id}`);
      if (context.io.stdout.isTty && messages.length > 0) return showTalk(context, messages);
      await context.out.table(messages, columns, { empty: 'Nothing was said yet.' });
    });

/** A conversation as a person reads it. */
function showTalk({ io, out }: Context, messages: ThreadMessage[]): void {
  const blocks = messages.map((message) => {
    const role = out.paint.stdout('bold', visibleCell(message.role));
    return `${role}\n${visible(textOf(message)).trimEnd()}\n`;
  });
  io.stdout.write(blocks.join('\n'));
}

const columns: Column<ThreadMessage>[] = [
  { title: 'role', value: (message) => message.role },
  { title: 'text', value: textOf },
];

/** What a message says; of calls and their outputs, what they are. */
export function textOf({ type, content }: ThreadMessage): string {
  if (type === 'message')
    return content.map((part) => part.text ?? part.refusal ?? `[${part.type}]`).join('');
  const [item = {}] = content;
  if (type === 'function_call') return `${item.name}(${item.arguments})`;
  if (type === 'function_call_output')
    return typeof item.output === 'string' ? item.output : JSON.stringify(item.output);
  return `[${type}]`;
}
