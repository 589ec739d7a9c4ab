/** How urgent something is that somebody is to do. Pure. */
export const taskPriorities = ['low', 'medium', 'high', 'urgent'] as const;
export type TaskPriority = (typeof taskPriorities)[number];
export const usualPriority: TaskPriority = 'medium';
