/** `/audit`: who managed what, newest first; found and paged by the service. */
import { getRouteApi } from '@tanstack/react-router'
import { api, readData } from '../../api/client.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { type Filter, FilterBar, type FilterValues } from '../../ui/controls/filter-bar.tsx'
import { RowList, useRowPages } from '../../ui/data/row-list.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Empty } from '../../ui/states/states.tsx'
import { AUDIT_COLUMNS } from './audit-columns.tsx'
import type { AuditSearch } from './audit-search.ts'

const ENTRIES_OF_A_PAGE = 100

const FILTERS: readonly Filter[] = [
  { name: 'who', label: 'Who', kind: 'text', placeholder: 'key:…, a name, local' },
  { name: 'what', label: 'What or target', kind: 'text', placeholder: 'POST /endpoints, or an id' },
  { name: 'from', label: 'From', kind: 'datetime' },
  { name: 'to', label: 'Before', kind: 'datetime' },
]

const route = getRouteApi('/audit')

export function AuditPage() {
  const refused = useRefusal('admin')
  return (
    <Page title="Audit log">
      {refused === undefined ? <AuditList /> : <Empty title="The audit log is for admins">{refused}</Empty>}
    </Page>
  )
}

function AuditList() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { who, what, from, to } = search
  const values: FilterValues = { who: who?.[0], what: what?.[0], from, to }
  const change = (changes: FilterValues) => {
    const { who, what, ...times } = changes
    void navigate({
      search: (before) => ({
        ...before,
        ...times,
        ...('who' in changes && { who: who === undefined ? undefined : [who] }),
        ...('what' in changes && { what: what === undefined ? undefined : [what] }),
      }),
      replace: true,
    })
  }
  const pages = useAudit(search)
  const isFiltered = Object.values(values).some((value) => value !== undefined)
  return (
    <>
      <FilterBar filters={FILTERS} values={values} onChange={change} />
      <RowList
        label="Audit log"
        columns={AUDIT_COLUMNS}
        pages={pages}
        getRowId={({ id }) => id}
        of={JSON.stringify(search)}
        empty={
          isFiltered ? (
            <Empty title="No entry matches">
              Names and routes are compared exactly, in the case in which they are written.
            </Empty>
          ) : (
            <Empty title="There are no entries yet">
              Each call that changes something, or reads what is confidential, leaves one.
            </Empty>
          )
        }
      />
    </>
  )
}

function useAudit({ who, what, from, to }: AuditSearch) {
  return useRowPages({
    queryKey: queryKeys.audit({ who, what, from, to }),
    readPage: async (cursor, signal) => {
      const query = {
        limit: ENTRIES_OF_A_PAGE,
        ...(who && { who: [...who] }),
        ...(what && { what: [...what] }),
        ...(from && { from: asInstant(from) }),
        ...(to && { to: asInstant(to) }),
        ...(cursor && { cursor }),
      }
      const { entries, next } = await readData(api.GET('/audit', { params: { query }, signal }))
      return { rows: entries, next }
    },
  })
}

/** A field for times gives the time of the reader's clock, without an offset; `-1h` is for the service. */
const asInstant = (text: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) ? new Date(text).toISOString() : text
