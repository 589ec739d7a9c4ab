/** The buttons by which a document or page is changed or deleted, and the dialogs behind them. */
import { useSignal } from '@preact/signals';
import { Tags, type Tagged } from './tags.tsx';
import { Confirm } from '../frame/confirm.tsx';
import { Act } from '../../parts/act.tsx';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

type Given = {
  name: string;
  tagged: Tagged;
  cited?: boolean;
  tag: (tags: Tagged) => Promise<void>;
  remove: () => Promise<unknown>;
  again: () => Promise<void>;
};

export function Changes({ name, tagged, cited = false, tag, remove, again }: Given) {
  const t = texts.value.knowledge;
  const open = useSignal<'tags' | 'removal' | undefined>(undefined);
  const closed = () => (open.value = undefined);
  const removed = async () => {
    await attempt(remove, t.deleted);
    await again();
  };
  return (
    <>
      <Act name={t.change} of={name} act={() => (open.value = 'tags')} />
      <Act name={t.deleteIt} of={name} kind="danger" act={() => (open.value = 'removal')} />
      {open.value === 'tags' && (
        <Tags
          title={name}
          tagged={tagged}
          cited={cited}
          save={async (tags) => {
            await tag(tags);
            await again();
          }}
          closed={closed}
        />
      )}
      {open.value === 'removal' && (
        <Confirm title={t.deleteAsk(name)} action={t.deleteIt} act={removed} closed={closed} />
      )}
    </>
  );
}
