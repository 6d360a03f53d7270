/** The URLs of the console. A page is loaded when it is opened; its search parameters are checked before. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { asFailure } from '../api/api-failure.ts'
import { readDeliveriesSearch } from '../pages/deliveries/deliveries-search.ts'
import { readEditorSearch } from '../pages/editor/editor-search.ts'
import { readEndpointsSearch } from '../pages/endpoints/endpoints-search.ts'
import { readGroupsSearch } from '../pages/groups/groups-search.ts'
import { readMappingSearch } from '../pages/mapping/mapping-search.ts'
import { readMessagesSearch } from '../pages/messages/messages-search.ts'
import { readPictureSearch } from '../pages/picture/picture-search.ts'
import { asChoice, asText, asTexts, asWhole, formatSearch, parseSearch, readSearch } from '../ui/search-params.ts'
import { FailureNotice } from '../ui/states/failure-notice.tsx'
import { Empty, Page } from '../ui/states/states.tsx'
import { Shell } from './shell.tsx'

/** The section of docs/console.md about a page: it has the last word of the path, unless this names it. */
const SECTIONS: Readonly<Record<string, string>> = {
  '': 'overview',
  new: 'new-and-import',
  edit: 'editor',
  stats: 'statistics',
  groups: 'failures',
  '/tables/$name/versions': 'tables',
  unmapped: 'unmapped-codes',
  audit: 'audit-log-and-api-keys',
  keys: 'audit-log-and-api-keys',
}

function sectionAbout(path: string): string {
  const word = path.split('/').findLast((part) => !part.startsWith('$')) ?? ''
  return SECTIONS[path] ?? SECTIONS[word] ?? word
}

function PageMissing() {
  return (
    <Page title="Page not found">
      <Empty title="There is nothing at this address" action={<Link to="/endpoints">To the endpoints</Link>}>
        The link may be of another version of the service, or have been cut when it was copied.
      </Empty>
    </Page>
  )
}

/** After an update of the service, parts of the old page are gone: loading it again gets the new one. */
function PageFailure({ error }: ErrorComponentProps) {
  return (
    <Page title="This page cannot be shown">
      <FailureNotice failure={asFailure(error)} onRetry={() => location.reload()} />
    </Page>
  )
}

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: PageMissing })
const getParentRoute = () => rootRoute

/** `readSearch`: of the search parameters, if the page has any. `name`: of the page in its module. */
const page = <const Path extends string, Module extends object, Search extends object = object>(
  path: Path,
  load: () => Promise<Module>,
  readSearch: (given: Readonly<Record<string, unknown>>) => Search = () => ({}) as Search,
  name = 'default' as keyof Module & string,
) =>
  createRoute({
    getParentRoute,
    path,
    validateSearch: readSearch,
    component: lazyRouteComponent(load, name),
    staticData: { help: sectionAbout(path) },
  })

const messagesRoute = page('/messages', () => import('../pages/messages/messages-page.tsx'), readMessagesSearch)
const messageRoute = createRoute({
  getParentRoute: () => messagesRoute,
  path: '$id',
  component: lazyRouteComponent(() => import('../pages/messages/message-detail.tsx')),
})

const readComparedVersions = readSearch({ from: asWhole, to: asWhole })

const routes = [
  page('/', () => import('../pages/overview/overview-page.tsx')),
  page('/endpoints', () => import('../pages/endpoints/endpoints-page.tsx'), readEndpointsSearch),
  page('/endpoints/new', () => import('../pages/editor/editor-page.tsx'), readEditorSearch, 'NewEndpointPage'),
  // The endpoint whose draft is filled, instead of a new one; recorded messages, each a pair.
  page(
    '/endpoints/by-example',
    () => import('../pages/by-example/by-example-page.tsx'),
    readSearch({ endpoint: asText, message: asTexts }),
  ),
  page('/endpoints/$id/edit', () => import('../pages/editor/editor-page.tsx'), readEditorSearch, 'EditorPage'),
  page('/endpoints/$id/form', () => import('../pages/editor/form/form-page.tsx'), readEditorSearch),
  page('/endpoints/$id/mapping', () => import('../pages/mapping/mapping-page.tsx'), readMappingSearch),
  page('/endpoints/$id/picture', () => import('../pages/picture/endpoint-picture-page.tsx')),
  page('/endpoints/$id/tests', () => import('../pages/tests/tests-page.tsx')),
  page('/endpoints/$id/versions', () => import('../pages/versions/versions-page.tsx'), readComparedVersions),
  page(
    '/endpoints/$id/stats',
    () => import('../pages/stats/stats-page.tsx'),
    readSearch({ period: asChoice(['hour', 'day'] as const) }),
  ),
  page('/picture', () => import('../pages/picture/service-picture-page.tsx'), readPictureSearch),
  page(
    '/audit',
    () => import('../pages/audit/audit-page.tsx'),
    readSearch({ who: asText, what: asText, from: asText, to: asText }),
  ),
  page('/settings', () => import('../pages/settings/settings-page.tsx')),
  page('/keys', () => import('../pages/keys/keys-page.tsx')),
  // The list stays unchanged while messages are opened beside it.
  messagesRoute.addChildren([messageRoute]),
  page('/groups', () => import('../pages/groups/groups-page.tsx'), readGroupsSearch),
  page('/groups/$key', () => import('../pages/groups/group-page.tsx')),
  page('/replays', () => import('../pages/replays/replays-page.tsx')),
  page('/replays/$plan', () => import('../pages/replays/plan-page.tsx')),
  page('/deliveries', () => import('../pages/deliveries/deliveries-page.tsx'), readDeliveriesSearch),
  page('/deliveries/$id', () => import('../pages/deliveries/delivery-page.tsx')),
  page('/tables', () => import('../pages/tables/tables-page.tsx')),
  page('/tables/$name', () => import('../pages/tables/table-page.tsx'), readSearch({ search: asText })),
  page('/tables/$name/versions', () => import('../pages/tables/table-versions-page.tsx'), readComparedVersions),
  page('/unmapped', () => import('../pages/tables/unmapped-page.tsx'), readSearch({ table: asText, endpoint: asText })),
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
