/** `failing`: the last attempt failed. `disabled`: nothing is sent until the destination's settings are saved again. */
export const destinationStatuses = ['active', 'failing', 'disabled'] as const;
