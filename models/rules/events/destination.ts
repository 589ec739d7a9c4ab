/** The states of a destination. Pure. */

/** `failing`: the last attempt failed. `disabled`: nothing is sent until its settings are saved again. */
export const destinationStatuses = ['active', 'failing', 'disabled'] as const;
export type DestinationStatus = (typeof destinationStatuses)[number];
