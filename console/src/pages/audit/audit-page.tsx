/** `/audit`: who managed what, newest first; found and paged by the service. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { api, readData, type Schemas } from '../../api/client.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { type Filter, FilterBar, type FilterValues } from '../../ui/controls/filter-bar.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { RowList, useRowPages } from '../../ui/data/row-list.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Empty } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
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

type AuditEntry = Schemas['AuditEntry']

const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  {
    title: 'What',
    isName: true,
    render: ({ sentence, what, omitted }) => (
      <>
        <VisibleText text={sentence} max={300} />
        <div className="quiet">
          <Link to="/audit" search={{ what: [what] }} data-row>
            <VisibleText code text={what} max={200} />
          </Link>
        </div>
        {omitted !== undefined && omitted > 0 && (
          <div className="quiet">{omitted.toLocaleString('en')} refused calls before it were not written</div>
        )}
      </>
    ),
  },
  { title: 'When', render: ({ at }) => <Time at={at} exact /> },
  {
    title: 'Who',
    render: ({ who, name, address }) => (
      <>
        <Link to="/audit" search={{ who: [who] }}>
          <VisibleText text={name ?? who} max={100} />
        </Link>
        <div className="quiet">
          {name === undefined ? null : <VisibleText text={`${who} `} max={100} />}
          {address}
        </div>
      </>
    ),
  },
  { title: 'Target', render: (entry) => <Target {...entry} /> },
  { title: 'Note', render: ({ note }) => <VisibleText text={note} /> },
  {
    title: 'Answer',
    render: ({ status, code }) => (
      <>
        <StatusChip tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</StatusChip>
        {code === undefined ? null : <code className="block">{code}</code>}
      </>
    ),
  },
]

/** Of a change of an endpoint: what it changed. */
function Target({ target, what, before, after }: AuditEntry) {
  if (target === undefined) return <span className="quiet">–</span>
  const id = <VisibleText code text={target} max={60} />
  const isEndpoint = /^[A-Z]+ \/endpoints/.test(what) && /^[0-9a-f]{24}$/.test(target)
  if (!isEndpoint) return id
  const isComparable = before !== undefined && after !== undefined && before > 0
  return (
    <>
      <Link
        to="/endpoints/$id/versions"
        params={{ id: target }}
        search={isComparable ? { from: before, to: after } : {}}
      >
        {id}
      </Link>
      {after === undefined ? null : (
        <div className="quiet">
          version {before === undefined || before === 0 ? '' : `${before} → `}
          {after}
        </div>
      )}
    </>
  )
}
