/** The statistics of a team: counts and times computed from its conversations. Pure. */

/** The fields of a conversation that the statistics use. `ticket`: made at the first escalation to a person. */
export type Counted = {
  created_at: Date;
  last_message_at: Date;
  ticket?: { created_at: Date };
  first_reply_at?: Date;
  resolved_at?: Date;
  reopened?: number;
  answered?: boolean;
  csat?: number;
  assigned_to?: string;
  tags?: readonly string[];
};

export const statisticsBy = ['day', 'member', 'tag'] as const;
export type StatisticsBy = (typeof statisticsBy)[number];

/** The median and the 90th percentile of times, in seconds; null when there is nothing to measure. */
export type Spread = { median: number | null; p90: number | null };
type Waits = {
  /** The time from the first escalation to a member's first reply. */
  first_response_seconds: Spread;
  /** The time from the start of the conversation to its resolution. */
  resolution_seconds: Spread;
};
export type Statistics = Waits & {
  conversations: number;
  escalated: number;
  /**
   * Conversations that the agent answered, from documents or with a tool, without an escalation or a member's reply.
   * Each of them is resolved, or has been quiet for a day.
   */
  deflected: number;
  resolved: number;
  reopened: number;
  /** The response and resolution times, counting only the team's hours; null for a team without hours. */
  within_hours: Waits | null;
  csat: { count: number; average: number | null };
};

/** A conversation counts as quiet after this time without a message, in ms. */
const quietMs = 86_400_000;

/** The value below which this share of the values lies, by the nearest rank; null without values. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted.length === 0 ? null : sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

function spread(values: readonly number[]): Spread {
  const seconds = values.map((ms) => Math.round(ms / 1_000)).toSorted((a, b) => a - b);
  return { median: quantile(seconds, 0.5), p90: quantile(seconds, 0.9) };
}

/** Returns how much of the time between two moments counts, in ms: all of it, or only the team's hours. */
export type Measure = (begin: number, end: number) => number;

const waitsOf = (counted: readonly Counted[], measure: Measure): Waits => ({
  first_response_seconds: spread(
    counted.flatMap(({ ticket, first_reply_at: replied }) =>
      ticket === undefined || replied === undefined || replied < ticket.created_at
        ? []
        : [measure(ticket.created_at.getTime(), replied.getTime())],
    ),
  ),
  resolution_seconds: spread(
    counted.flatMap(({ created_at: created, resolved_at: resolved }) =>
      resolved === undefined ? [] : [measure(created.getTime(), resolved.getTime())],
    ),
  ),
});

/**
 * The statistics of conversations. `within`: measures the time within the team's hours; undefined for a team without
 * hours.
 */
export function summarize(counted: readonly Counted[], now: number, within?: Measure): Statistics {
  const rated = counted.flatMap(({ csat }) => csat ?? []);
  const isDone = ({ resolved_at, last_message_at }: Counted) =>
    resolved_at !== undefined || now - last_message_at.getTime() >= quietMs;
  const count = (fits: (one: Counted) => boolean): number => counted.filter(fits).length;
  return {
    conversations: counted.length,
    escalated: count(({ ticket }) => ticket !== undefined),
    // A member may reply without an escalation, so `first_reply_at` is checked, too.
    deflected: count((one) => one.answered === true && !one.ticket && !one.first_reply_at && isDone(one)),
    resolved: count(({ resolved_at }) => resolved_at !== undefined),
    reopened: count(({ reopened = 0 }) => reopened > 0),
    ...waitsOf(counted, (begin, end) => end - begin),
    within_hours: within ? waitsOf(counted, within) : null,
    csat: {
      count: rated.length,
      average: rated.length === 0 ? null : rated.reduce((sum, one) => sum + one, 0) / rated.length,
    },
  };
}

/**
 * The groups that a conversation belongs to: by day (UTC), by assignee (`none` without an assignee), or by each of its
 * tags.
 */
function groupsOf({ created_at, assigned_to = 'none', tags = [] }: Counted, by: StatisticsBy): readonly string[] {
  if (by === 'day') return [created_at.toISOString().slice(0, 10)];
  return by === 'member' ? [assigned_to] : tags;
}

/** The statistics of each group, in the order of their names. A conversation counts once in each of its tags. */
export function grouped(
  counted: readonly Counted[],
  by: StatisticsBy,
  now: number,
  within?: Measure,
): ({ group: string } & Statistics)[] {
  const groups = new Map<string, Counted[]>();
  for (const one of counted)
    for (const group of groupsOf(one, by)) {
      const known = groups.get(group);
      if (known) known.push(one);
      else groups.set(group, [one]);
    }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, those]) => ({ group, ...summarize(those, now, within) }));
}
