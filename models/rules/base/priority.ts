/** The priorities of tasks and conversations. Pure. */
export const priorities = ['low', 'medium', 'high', 'urgent'] as const;
export type Priority = (typeof priorities)[number];
export const usualPriority: Priority = 'medium';
