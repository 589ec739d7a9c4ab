/** Due dates. Pure. */

/**
 * `due_date`: a day (`2026-12-01`), or a moment in UTC. `due_day`: the day of a moment in the time zone in which the
 * moment was said; absent when no zone is known.
 */
export type DueDate = { due_date?: string | undefined; due_day?: string | undefined };

/**
 * The day of a due date, for services and texts that name no hour. `Friday at 5 pm` in Los Angeles is a Saturday in
 * UTC, so the day in UTC is given only where the zone of a moment is not known.
 */
export const dueDay = ({ due_date, due_day }: DueDate): string | undefined => due_day ?? due_date?.slice(0, 10);
