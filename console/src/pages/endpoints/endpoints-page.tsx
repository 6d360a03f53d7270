/** `/endpoints`: every endpoint with what it does now; found, sorted and counted by the service. */
import { getRouteApi } from '@tanstack/react-router'
import { listEndpoints } from '../../api/endpoint-calls.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { type Filter, FilterBar, type FilterValues } from '../../ui/controls/filter-bar.tsx'
import { RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Empty } from '../../ui/states/states.tsx'
import { ENDPOINT_COLUMNS } from './endpoint-columns.tsx'
import { ENDPOINT_SORTS, type EndpointsSearch } from './endpoints-search.ts'
import { ImportDialog } from './import-dialog.tsx'
import { NewEndpointDialog } from './new-endpoint-dialog.tsx'

const ROWS_OF_A_PAGE = 200
/** The list loads again with each event; what slides out of its hour goes this often. */
const EVERY_MS = 30_000

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'search', placeholder: 'Name, path, description, label or id' },
  { name: 'label', label: 'Label', kind: 'text', placeholder: 'team=lab' },
]

const route = getRouteApi('/endpoints')

export function EndpointsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: FilterValues) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  const pages = useEndpoints(search)
  const isFiltered = search.q !== undefined || search.label !== undefined
  const refused = useRefusal('author')
  const show = (dialog: EndpointsSearch['dialog']) => void navigate({ search: (before) => ({ ...before, dialog }) })
  const close = () =>
    void navigate({ search: ({ dialog: _dialog, pattern: _pattern, method: _method, ...before }) => before })
  return (
    <Page
      title="Endpoints"
      actions={
        <>
          <Button text="Import …" refused={refused} onPress={() => show('import')} />
          <Button
            text="By example …"
            refused={refused}
            onPress={() => void navigate({ to: '/endpoints/by-example' })}
          />
          <Button text="New endpoint …" tone="primary" refused={refused} onPress={() => show('new')} />
        </>
      }
    >
      <FilterBar filters={FILTERS} values={search} onChange={change} />
      <RowList
        label="Endpoints"
        columns={ENDPOINT_COLUMNS}
        pages={pages}
        getRowId={({ id }) => id}
        of={JSON.stringify([search.q, search.sort, search.label])}
        sort={search.sort ?? 'name'}
        onSort={(by) => change({ sort: ENDPOINT_SORTS.find((one) => one === by) })}
        empty={<NoEndpoints isFiltered={isFiltered} refused={refused} onNew={() => show('new')} />}
      />
      {search.dialog === 'new' && refused === undefined && <NewEndpointDialog route={search} onClose={close} />}
      {search.dialog === 'import' && refused === undefined && <ImportDialog onClose={close} />}
    </Page>
  )
}

function useEndpoints({ q, sort, label }: EndpointsSearch) {
  const [name = '', ...value] = label?.split('=') ?? []
  return useRowPages({
    queryKey: queryKeys.endpointRows({ q, sort, label }),
    everyMs: EVERY_MS,
    readPage: async (cursor, signal) => {
      const { endpoints, ...page } = await listEndpoints(
        {
          limit: ROWS_OF_A_PAGE,
          ...(q && { q }),
          ...(sort && { sort }),
          ...(cursor && { cursor }),
          ...(label && { labels: { [name.trim()]: value.join('=').trim() } }),
        },
        signal,
      )
      return { rows: endpoints, ...page }
    },
  })
}

type NoEndpointsProps = Readonly<{ isFiltered: boolean; refused: string | undefined; onNew(): void }>

function NoEndpoints({ isFiltered, refused, onNew }: NoEndpointsProps) {
  if (isFiltered) {
    return (
      <Empty title="No endpoint matches">Each word must be in the name, path, description, a label or the id.</Empty>
    )
  }
  return (
    <Empty
      title="There are no endpoints yet"
      action={<Button text="New endpoint …" tone="primary" refused={refused} onPress={onNew} />}
    >
      An endpoint takes messages at a path or from a topic, or runs by a schedule; it maps them and sends them on. It is
      one JSON document.
    </Empty>
  )
}
