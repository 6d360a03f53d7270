/** Groups of failures, and plans that replay many messages. */

import type { Paths } from '../../../../src/api/types.ts'
import { api, type GetParams, type Got, get, readData } from '../client.ts'
import type { ReplayLookups } from './message-calls.ts'
import type { FailureGroup, GroupState, MessageFilters, ReplayPlan, RunLimits } from './record-types.ts'

type PlanFilter = NonNullable<Paths['/messages/replay']['post']['requestBody']>['content']['application/json']

/** `minutesFrom`: when the first of the minutes of each group started. */
export type GroupList = Got<'/messages/groups'>

export const listGroups = (filters: MessageFilters, signal: AbortSignal) =>
  get('/messages/groups', { query: filters as GetParams<'/messages/groups'>['query'] }, signal)

/** Says what people think of a group; an empty note is none. */
export const markGroup = (key: string, state: GroupState, note: string): Promise<FailureGroup> =>
  readData(
    api.PUT('/messages/groups/{key}', { params: { path: { key } }, body: { state, ...(note !== '' && { note }) } }),
  )

/** Makes a plan; nothing runs yet. */
export const planReplay = (filters: MessageFilters, lookups?: ReplayLookups): Promise<ReplayPlan> =>
  readData(
    api.POST('/messages/replay', { body: filters as PlanFilter, params: { query: { ...(lookups && { lookups }) } } }),
  )

export const runPlan = (plan: string, limits: RunLimits): Promise<ReplayPlan> =>
  readData(api.POST('/messages/replay/{plan}/run', { params: { path: { plan } }, body: limits }))

export type PlanAction = 'continue' | 'pause' | 'cancel'

export function changePlan(plan: string, action: PlanAction): Promise<ReplayPlan> {
  const path = `/messages/replay/{plan}/${action}` as const
  return readData(api.POST(path, { params: { path: { plan } } }))
}
