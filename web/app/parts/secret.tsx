/** A text to copy, such as a key, a link or a script tag, with a button that copies it. */
type Given = { text: string; label: string; copy: string; copied: () => void };

export const Secret = ({ text, label, copy, copied }: Given) => (
  <p class="line">
    <code tabIndex={0} aria-label={label}>
      {text}
    </code>
    <button type="button" onClick={() => void navigator.clipboard.writeText(text).then(copied)}>
      {copy}
    </button>
  </p>
);
