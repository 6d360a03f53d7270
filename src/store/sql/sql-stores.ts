/** The stores that both databases have in the same statements. */
import { compileAuditStore } from './audit-store.ts'
import { compileCaptureStore } from './capture-store.ts'
import type { Database } from './database.ts'
import { compileDeliveryStore } from './delivery-store.ts'
import { compileEndpointStore, compileEndpointTestStore } from './endpoint-store.ts'
import { compileFailureGroupStore } from './failure-group-store.ts'
import { compileIdempotencyStore } from './idempotency-store.ts'
import { compileKeyStore } from './key-store.ts'
import { compileReplayPlanStore } from './replay-plan-store.ts'
import { compileScheduleStore } from './schedule-store.ts'
import { compileStatsStore } from './stats-store.ts'
import { compileTableStore } from './table-store.ts'
import { compileUnmappedStore } from './unmapped-store.ts'

export const compileSqlStores = (database: Database, close: () => Promise<void>) => ({
  endpoints: compileEndpointStore(database),
  tests: compileEndpointTestStore(database),
  idempotency: compileIdempotencyStore(database),
  stats: compileStatsStore(database),
  keys: compileKeyStore(database),
  audit: compileAuditStore(database),
  replayPlans: compileReplayPlanStore(database),
  failureGroups: compileFailureGroupStore(database),
  captures: compileCaptureStore(database),
  schedules: compileScheduleStore(database),
  deliveries: compileDeliveryStore(database),
  tables: compileTableStore(database),
  unmapped: compileUnmappedStore(database),
  close,
})
