/**
 * Why a page could not be rendered, in words for whoever looks after the site. It decides nothing.
 */

/** `temporary`: the same page may work later. */
export const renderReasons = {
  timed_out: { temporary: false, message: 'The page did not come to an end of its scripts in time.' },
  crashed: { temporary: true, message: 'The browser ended while it rendered the page.' },
  out_of_memory: { temporary: false, message: 'The page needs more memory than a page is given.' },
  blocked_address: { temporary: false, message: 'This address leads into a private network, which is not allowed.' },
  too_large: { temporary: false, message: 'The page is larger than allowed.' },
  unreachable: { temporary: true, message: 'The page could not be fetched for rendering.' },
  unavailable: {
    temporary: true,
    message: 'The page has no text without JavaScript, and there is no browser here to run it.',
  },
} as const satisfies Record<string, { temporary: boolean; message: string }>;

export type RenderReason = keyof typeof renderReasons;

/** A page that was not rendered; `cause` is what lay behind it, an HttpError when its address could not be fetched. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly reason: RenderReason;
  readonly temporary: boolean;

  constructor(reason: RenderReason, message?: string, options?: ErrorOptions) {
    super(message ?? renderReasons[reason].message, options);
    this.reason = reason;
    this.temporary = renderReasons[reason].temporary;
  }
}
