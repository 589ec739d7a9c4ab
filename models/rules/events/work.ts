/** What is started for deliveries, by the names that records and workflows share. */

/** Sends the deliveries of one line that belongs to no ticket. */
export const deliveryWork = { workflow: 'sendLine', queue: 'deliveries', signal: 'attend' } as const;
const deliveryWorkflowId = (line: string): string => `delivery:${line}`;

/** Has the line's workflow look at what is outstanding; it begins when none is open. */
export const sendingWork = (orgId: string, line: string) => ({
  ...deliveryWork,
  id: deliveryWorkflowId(line),
  args: [{ orgId, line }],
});

/** Where deliveries go that must not hold up others: see decision 95. */
export const slowQueue = 'slowdeliveries';
/** The signal by which a workflow that waits for the next attempt makes it now. */
export const tryNowSignal = 'tryNow';
