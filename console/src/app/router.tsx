/** The URLs of the console. A page is loaded when it is opened; its search parameters are checked before. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { readAuditSearch } from '../pages/audit/audit-search.ts'
import { readDeliveriesSearch } from '../pages/deliveries/deliveries-search.ts'
import { readEditorSearch } from '../pages/editor/editor-search.ts'
import { readEndpointsSearch } from '../pages/endpoints/endpoints-search.ts'
import { readGroupsSearch } from '../pages/groups/groups-search.ts'
import { readMappingSearch } from '../pages/mapping/mapping-search.ts'
import { readMessagesSearch } from '../pages/messages/messages-search.ts'
import { readStatsSearch } from '../pages/stats/stats-search.ts'
import { readRowsSearch, readTableVersionsSearch, readUnmappedSearch } from '../pages/tables/tables-search.ts'
import { readVersionsSearch } from '../pages/versions/versions-search.ts'
import { formatSearch, parseSearch } from '../ui/search-params.ts'
import { PageFailure, PageMissing } from './page-failure.tsx'
import { Shell } from './shell.tsx'

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: PageMissing })
const getParentRoute = () => rootRoute

const messagesRoute = createRoute({
  getParentRoute,
  path: '/messages',
  validateSearch: readMessagesSearch,
  component: lazyRouteComponent(() => import('../pages/messages/messages-page.tsx'), 'MessagesPage'),
})

const messageRoute = createRoute({
  getParentRoute: () => messagesRoute,
  path: '$id',
  component: lazyRouteComponent(() => import('../pages/messages/message-detail.tsx'), 'MessageDetail'),
})

const routes = [
  createRoute({
    getParentRoute,
    path: '/',
    component: lazyRouteComponent(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints',
    validateSearch: readEndpointsSearch,
    component: lazyRouteComponent(() => import('../pages/endpoints/endpoints-page.tsx'), 'EndpointsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/new',
    validateSearch: readEditorSearch,
    component: lazyRouteComponent(() => import('../pages/editor/editor-page.tsx'), 'NewEndpointPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$id/edit',
    validateSearch: readEditorSearch,
    component: lazyRouteComponent(() => import('../pages/editor/editor-page.tsx'), 'EditorPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$id/form',
    validateSearch: readEditorSearch,
    component: lazyRouteComponent(() => import('../pages/editor/form/form-page.tsx'), 'FormPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$id/mapping',
    validateSearch: readMappingSearch,
    component: lazyRouteComponent(() => import('../pages/mapping/mapping-page.tsx'), 'MappingPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$id/tests',
    component: lazyRouteComponent(() => import('../pages/tests/tests-page.tsx'), 'TestsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$id/versions',
    validateSearch: readVersionsSearch,
    component: lazyRouteComponent(() => import('../pages/versions/versions-page.tsx'), 'VersionsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$id/stats',
    validateSearch: readStatsSearch,
    component: lazyRouteComponent(() => import('../pages/stats/stats-page.tsx'), 'StatsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/audit',
    validateSearch: readAuditSearch,
    component: lazyRouteComponent(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/keys',
    component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
  }),
  // The list stays unchanged while messages are opened beside it.
  messagesRoute.addChildren([messageRoute]),
  createRoute({
    getParentRoute,
    path: '/groups',
    validateSearch: readGroupsSearch,
    component: lazyRouteComponent(() => import('../pages/groups/groups-page.tsx'), 'GroupsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/groups/$key',
    component: lazyRouteComponent(() => import('../pages/groups/group-page.tsx'), 'GroupPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/replays',
    component: lazyRouteComponent(() => import('../pages/replays/replays-page.tsx'), 'ReplaysPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/replays/$plan',
    component: lazyRouteComponent(() => import('../pages/replays/plan-page.tsx'), 'PlanPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/deliveries',
    validateSearch: readDeliveriesSearch,
    component: lazyRouteComponent(() => import('../pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/deliveries/$id',
    component: lazyRouteComponent(() => import('../pages/deliveries/delivery-page.tsx'), 'DeliveryPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/tables',
    component: lazyRouteComponent(() => import('../pages/tables/tables-page.tsx'), 'TablesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/tables/$name',
    validateSearch: readRowsSearch,
    component: lazyRouteComponent(() => import('../pages/tables/table-page.tsx'), 'TablePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/tables/$name/versions',
    validateSearch: readTableVersionsSearch,
    component: lazyRouteComponent(() => import('../pages/tables/table-versions-page.tsx'), 'TableVersionsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/unmapped',
    validateSearch: readUnmappedSearch,
    component: lazyRouteComponent(() => import('../pages/tables/unmapped-page.tsx'), 'UnmappedPage'),
  }),
] as const

export const createConsoleRouter = () =>
  createRouter({
    routeTree: rootRoute.addChildren(routes),
    basepath: '/console',
    parseSearch,
    stringifySearch: formatSearch,
    defaultErrorComponent: PageFailure,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
