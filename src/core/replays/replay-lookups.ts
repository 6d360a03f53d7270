/** Whether the lookups of a replay use the answers that were recorded, or are asked again. */
export const REPLAY_LOOKUPS = ['recorded', 'again'] as const
export type ReplayLookups = (typeof REPLAY_LOOKUPS)[number]
