/** A table. It scrolls within the page where it is too wide. */
import type { ComponentChildren } from 'preact';

type Given = {
  heads: readonly string[];
  /** The head of the last column, if this column contains buttons. Only screen readers announce it. */
  acts?: string;
  caption?: string;
  children: ComponentChildren;
};

export const Table = ({ heads, acts, caption, children }: Given) => (
  <div class="scroll">
    <table>
      {caption && <caption>{caption}</caption>}
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
          {acts && (
            <th scope="col">
              <span class="hidden">{acts}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
