/** The routes of the management API, by the ports that serve them. */
import { accessRoutes } from './access.ts'
import { authoringRoutes } from './authoring.ts'
import { deliveryRoutes } from './deliveries.ts'
import { dryRunRoutes } from './dry-run.ts'
import { endpointRoutes } from './endpoints.ts'
import { messageRoutes } from './messages.ts'
import { consoleRoutes, operationRoutes, uptimeRoutes } from './operation.ts'
import { replayRoutes } from './replays.ts'
import type { Route } from './route.ts'
import { scheduleRoutes } from './schedule.ts'
import { recordedTestRoutes, testRoutes } from './tests.ts'

export { uptimeRoutes }

export const ENDPOINT_ROUTES: readonly Route[] = [
  ...uptimeRoutes,
  ...endpointRoutes,
  ...scheduleRoutes,
  ...authoringRoutes,
  ...dryRunRoutes,
  ...testRoutes,
]

export const ADMIN_ROUTES: readonly Route[] = [
  ...ENDPOINT_ROUTES,
  ...messageRoutes,
  ...replayRoutes,
  ...deliveryRoutes,
  ...recordedTestRoutes,
  ...accessRoutes,
  ...operationRoutes,
  ...consoleRoutes,
]

/** What the types of calls are derived from (types.ts). */
export type TypedRoutes = (
  | typeof uptimeRoutes
  | typeof endpointRoutes
  | typeof scheduleRoutes
  | typeof authoringRoutes
  | typeof dryRunRoutes
  | typeof testRoutes
  | typeof messageRoutes
  | typeof replayRoutes
  | typeof deliveryRoutes
  | typeof recordedTestRoutes
  | typeof accessRoutes
  | typeof operationRoutes
)[number]
