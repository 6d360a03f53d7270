/** Groups of failures, and plans that replay many messages. */

import type { Paths } from '../../../../src/api/types.ts'
import { api, readData } from '../client.ts'
import type { ReplayLookups } from './message-calls.ts'
import type { FailureGroup, GroupState, MessageFilters, ReplayPlan, RunLimits } from './record-types.ts'

type GroupQuery = NonNullable<Paths['/messages/groups']['get']['parameters']['query']>
type PlanFilter = NonNullable<Paths['/messages/replay']['post']['requestBody']>['content']['application/json']

/** `minutesFrom`: when the first of the minutes of each group started. */
export type GroupList = Readonly<{ minutesFrom: string; groups: readonly FailureGroup[] }>

export async function listGroups(filters: MessageFilters, signal?: AbortSignal): Promise<GroupList> {
  const query = filters as GroupQuery
  return readData(api.GET('/messages/groups', { params: { query }, ...(signal && { signal }) }))
}

export const readGroup = (key: string, signal?: AbortSignal): Promise<FailureGroup> =>
  readData(api.GET('/messages/groups/{key}', { params: { path: { key } }, ...(signal && { signal }) }))

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

export async function listPlans(signal?: AbortSignal): Promise<readonly ReplayPlan[]> {
  return (await readData(api.GET('/messages/replay', { ...(signal && { signal }) }))).plans
}

export const readPlan = (plan: string, signal?: AbortSignal): Promise<ReplayPlan> =>
  readData(api.GET('/messages/replay/{plan}', { params: { path: { plan } }, ...(signal && { signal }) }))

export const runPlan = (plan: string, limits: RunLimits): Promise<ReplayPlan> =>
  readData(api.POST('/messages/replay/{plan}/run', { params: { path: { plan } }, body: limits }))

export type PlanAction = 'continue' | 'pause' | 'cancel'

export function changePlan(plan: string, action: PlanAction): Promise<ReplayPlan> {
  const params = { path: { plan } }
  if (action === 'continue') return readData(api.POST('/messages/replay/{plan}/continue', { params }))
  if (action === 'pause') return readData(api.POST('/messages/replay/{plan}/pause', { params }))
  return readData(api.POST('/messages/replay/{plan}/cancel', { params }))
}
