/** `/endpoints`: every endpoint with what it does now; found, sorted and counted by the service. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { listEndpoints } from '../../api/endpoint-calls.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { type Filter, FilterBar } from '../../ui/controls/filter-bar.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { FreshRows, MoreRows, useStableRows } from '../../ui/data/more-rows.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { ENDPOINT_COLUMNS } from './endpoint-columns.tsx'
import { ENDPOINT_SORTS, type EndpointsSearch } from './endpoints-search.ts'
import { useLiveCounts } from './live-counts.ts'

const ROWS_OF_A_PAGE = 200
/** Counts of messages come by events; what slides out of their hour is read again this often. */
const EVERY_MS = 30_000

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'search', placeholder: 'Name, path, description, label or id' },
  { name: 'label', label: 'Label', kind: 'text', placeholder: 'team=lab' },
]

const route = getRouteApi('/endpoints')

export function EndpointsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: EndpointsSearch | Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  const query = useEndpoints(search)
  const counted = useLiveCounts(query.data?.pages.flatMap(({ endpoints }) => endpoints) ?? [], query.dataUpdatedAt)
  const rows = useStableRows(counted, ({ id }) => id, JSON.stringify(search))
  const isFiltered = search.q !== undefined || search.label !== undefined
  const sort = search.sort ?? 'name'
  return (
    <Page title="Endpoints">
      <FilterBar filters={FILTERS} values={search} onChange={change} />
      <FreshRows rows={rows} />
      <QueryView query={query} what="Loading the endpoints">
        {({ pages }) =>
          rows.rows.length === 0 ? (
            <NoEndpoints isFiltered={isFiltered} />
          ) : (
            <>
              <DataTable
                label="Endpoints"
                columns={ENDPOINT_COLUMNS}
                rows={rows.rows}
                idOf={({ id }) => id}
                sort={sort}
                onSort={(by) => change({ sort: ENDPOINT_SORTS.find((one) => one === by) })}
              />
              <MoreRows
                shown={rows.rows.length}
                total={pages.at(-1)?.total}
                hasMore={query.hasNextPage}
                isLoading={query.isFetchingNextPage}
                onMore={() => void query.fetchNextPage()}
              />
            </>
          )
        }
      </QueryView>
    </Page>
  )
}

function useEndpoints({ q, sort, label }: EndpointsSearch) {
  const [name = '', ...value] = label?.split('=') ?? []
  return useInfiniteQuery({
    queryKey: queryKeys.endpointList({ q, sort, label }),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      listEndpoints(
        {
          limit: ROWS_OF_A_PAGE,
          ...(q && { q }),
          ...(sort && { sort }),
          ...(cursor && { cursor }),
          ...(label && { labels: { [name.trim()]: value.join('=').trim() } }),
        },
        signal,
      ),
    getNextPageParam: ({ next }) => next,
    refetchInterval: EVERY_MS,
    placeholderData: (before) => before,
  })
}

function NoEndpoints({ isFiltered }: Readonly<{ isFiltered: boolean }>) {
  if (isFiltered) {
    return (
      <Empty title="No endpoint matches">Each word must be in the name, path, description, a label or the id.</Empty>
    )
  }
  return (
    <Empty title="There are no endpoints yet">
      An endpoint takes messages at a path or from a topic, maps them, and sends them on. It is one JSON document.
    </Empty>
  )
}
