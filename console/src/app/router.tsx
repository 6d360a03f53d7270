/** The URLs of the console. A page is loaded when it is opened; its search parameters are checked before. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { readAuditSearch } from '../pages/audit/audit-search.ts'
import { readEditorSearch } from '../pages/editor/editor-search.ts'
import { readEndpointsSearch } from '../pages/endpoints/endpoints-search.ts'
import { readGroupsSearch } from '../pages/groups/groups-search.ts'
import { readMappingSearch } from '../pages/mapping/mapping-search.ts'
import { readMessagesSearch } from '../pages/messages/messages-search.ts'
import { readVersionsSearch } from '../pages/versions/versions-search.ts'
import { formatSearch, parseSearch } from '../ui/search-params.ts'
import { PageFailure, PageMissing } from './page-failure.tsx'
import { Shell } from './shell.tsx'

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: PageMissing })
const getParentRoute = () => rootRoute

/** A page that is not built yet is as unknown as any other URL; its type lets other pages link to it. */
const missing = {
  beforeLoad: () => {
    throw notFound()
  },
}

const routes = [
  createRoute({ getParentRoute, path: '/', ...missing }),
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
    path: '/endpoints/$id/mapping',
    validateSearch: readMappingSearch,
    component: lazyRouteComponent(() => import('../pages/mapping/mapping-page.tsx'), 'MappingPage'),
  }),
  createRoute({ getParentRoute, path: '/endpoints/$id/tests', ...missing }),
  createRoute({ getParentRoute, path: '/endpoints/$id/versions', validateSearch: readVersionsSearch, ...missing }),
  createRoute({ getParentRoute, path: '/endpoints/$id/stats', ...missing }),
  createRoute({ getParentRoute, path: '/messages', validateSearch: readMessagesSearch, ...missing }),
  createRoute({ getParentRoute, path: '/messages/$id', validateSearch: readMessagesSearch, ...missing }),
  createRoute({ getParentRoute, path: '/groups', validateSearch: readGroupsSearch, ...missing }),
  createRoute({ getParentRoute, path: '/groups/$key', ...missing }),
  createRoute({ getParentRoute, path: '/replays', ...missing }),
  createRoute({ getParentRoute, path: '/replays/$plan', ...missing }),
  createRoute({ getParentRoute, path: '/audit', validateSearch: readAuditSearch, ...missing }),
  createRoute({ getParentRoute, path: '/keys', ...missing }),
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
