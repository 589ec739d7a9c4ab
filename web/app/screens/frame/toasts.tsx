import { dismiss, toasts } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, failed }) => (
      <p key={id} class={failed ? 'failed' : ''}>
        {text}
        <button type="button" class="plain" aria-label={texts.value.close} onClick={() => dismiss(id)}>
          ×
        </button>
      </p>
    ))}
  </div>
);
