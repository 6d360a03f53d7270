/** The routes of the management API, by the ports that serve them. */
import { accessRoutes } from './access.ts'
import { authoringRoutes } from './authoring.ts'
import { deliveryRoutes, senderRoutes } from './deliveries.ts'
import { dryRunRoutes } from './dry-run.ts'
import { endpointRoutes } from './endpoints.ts'
import { fhirRoutes } from './fhir.ts'
import { graphRoutes } from './graph.ts'
import { messageRoutes } from './messages.ts'
import { consoleRoutes, operationRoutes, uptimeRoutes } from './operation.ts'
import { replayRoutes } from './replays.ts'
import type { Route } from './route.ts'
import { scheduleRoutes } from './schedule.ts'
import { tableRoutes } from './tables.ts'
import { recordedTestRoutes, testRoutes } from './tests.ts'

/** What the message port serves where endpoints are managed on the admin port alone. */
export const OPEN_ROUTES: readonly Route[] = [...uptimeRoutes, ...senderRoutes]

export const ENDPOINT_ROUTES: readonly Route[] = [
  ...OPEN_ROUTES,
  ...endpointRoutes,
  ...graphRoutes,
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
  ...tableRoutes,
  ...fhirRoutes,
  ...recordedTestRoutes,
  ...accessRoutes,
  ...operationRoutes,
  ...consoleRoutes,
]

/** What the types of calls are derived from (types.ts). */
export type TypedRoutes = (
  | typeof uptimeRoutes
  | typeof endpointRoutes
  | typeof graphRoutes
  | typeof scheduleRoutes
  | typeof tableRoutes
  | typeof authoringRoutes
  | typeof dryRunRoutes
  | typeof testRoutes
  | typeof messageRoutes
  | typeof replayRoutes
  | typeof senderRoutes
  | typeof deliveryRoutes
  | typeof recordedTestRoutes
  | typeof accessRoutes
  | typeof operationRoutes
)[number]
