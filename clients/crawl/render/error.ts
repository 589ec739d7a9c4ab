/** The reasons why a page could not be rendered, each as the end of a sentence for the site's maintainer. */

/** `temporary`: a later attempt may succeed. */
export const renderReasons = {
  timed_out: { temporary: false, message: 'its scripts did not come to an end in time' },
  crashed: { temporary: true, message: 'the browser ended while it rendered the page' },
  out_of_memory: { temporary: false, message: 'it needs more memory than a page is given' },
  blocked_address: { temporary: false, message: 'it leads into a private network' },
  too_large: { temporary: false, message: 'rendered, it is larger than allowed' },
  unreachable: { temporary: true, message: 'it could not be fetched for rendering' },
  unavailable: { temporary: true, message: 'there is no browser here that starts' },
} as const satisfies Record<string, { temporary: boolean; message: string }>;

export type RenderReason = keyof typeof renderReasons;

/**
 * A page that was not rendered. `cause` is the underlying error: an HttpError when the page's URL could not be fetched.
 */
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
