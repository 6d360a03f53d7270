/** The forms of recorded messages and of their replays, as the API gives them. */
import type { Schemas } from '../../../../src/api/types.ts'

export type ListedMessage = Schemas['ListedMessage']
export type MessageRecord = Schemas['Message']
export type BodySummary = ListedMessage['bodies'][number]

/** Filters of the API by name, as they are written in a URL. */
export type MessageFilters = Readonly<Record<string, string | readonly string[] | undefined>>

/** The messages of an endpoint that ended in one minute. */
export type CountedMinute = Schemas['Stats']['minutes'][number]

export type FailureGroup = Schemas['FailureGroup']
export type GroupState = FailureGroup['state']
export type ReplayPlan = Schemas['ReplayPlan']
export type RunLimits = Schemas['RunLimits']
