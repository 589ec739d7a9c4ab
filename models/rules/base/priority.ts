/** The priorities of tasks. Pure. */
export const taskPriorities = ['low', 'medium', 'high', 'urgent'] as const;
export type TaskPriority = (typeof taskPriorities)[number];
export const usualPriority: TaskPriority = 'medium';
