/**
 * The conversation that is open: its header with the members' actions, its log, and the box to reply or write a note
 * in.
 */
import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { Acts } from './acts.tsx';
import { Compose, type Writing } from './compose.tsx';
import { around, customerName } from './entry.tsx';
import { Log } from './log.tsx';
import { Side } from './side.tsx';
import { useKeys } from '../../parts/keys.ts';
import {
  assign,
  conversation,
  messages,
  missing,
  openId,
  outgoing,
  resolve,
  reopen,
} from '../../state/conversation.ts';
import { step } from '../../state/inbox.ts';
import { user } from '../../state/session.ts';
import { texts } from '../../texts/texts.ts';

export function ConversationPane() {
  const t = texts.value;
  const one = conversation.value;
  const writing = useSignal<Writing>('reply');
  const box = useRef<HTMLTextAreaElement>(null);
  const write = (what: Writing) => {
    writing.value = what;
    // Replies and notes share one text box, so the box exists already and can get the focus.
    box.current?.focus();
  };
  const resolveAndNext = async () => {
    const id = openId.value;
    if (!(await resolve()) || openId.value !== id) return;
    step(1);
  };
  useKeys({
    r: () => write('reply'),
    n: () => write('note'),
    i: () => void assign(user.value!.userId),
    e: () => void (conversation.value?.status === 'resolved' ? reopen() : resolveAndNext()),
  });
  if (missing.value) return <p class="empty">{t.notFound}</p>;
  if (!one) return <p class="empty">{t.loading}</p>;
  return (
    <>
      <section class="conversation" aria-label={customerName(one.customer)}>
        <header>
          <h2>{customerName(one.customer)}</h2>
          <p class="around" role="status">
            {around(one.conv_id)}
          </p>
          <Acts one={one} resolveAndNext={resolveAndNext} />
        </header>
        <LogPane />
        <Compose one={one} writing={writing} write={write} box={box} />
      </section>
      <Side one={one} />
    </>
  );
}

/** Keeps the end of the log in sight, unless the member has scrolled up. */
function LogPane() {
  const ref = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const last = `${messages.value.at(-1)?.id} ${outgoing.value.length}`;
  useEffect(() => {
    if (isAtEnd.current) ref.current!.scrollTop = ref.current!.scrollHeight;
  }, [last]);
  return (
    <div
      class="log"
      ref={ref}
      tabIndex={0}
      role="log"
      aria-label={texts.value.messages}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) =>
        (isAtEnd.current = scrollHeight - scrollTop - clientHeight < 60)
      }
    >
      <Log />
    </div>
  );
}
