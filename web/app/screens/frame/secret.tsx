/** A text to copy, such as a key, a link or a script tag, with a button that copies it. */
import { Act } from '../../parts/act.tsx';
import { toast } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export function Secret({ text, label }: { text: string; label: string }) {
  const t = texts.value;
  const copy = () => navigator.clipboard.writeText(text).then(() => toast(t.copied));
  return (
    <p class="line">
      <code tabIndex={0} aria-label={label}>
        {text}
      </code>
      <Act name={t.copy} act={copy} />
    </p>
  );
}
