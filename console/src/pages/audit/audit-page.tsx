/** `/audit`: who managed what, newest first; found, paged and put into words by the service. */

import { getRouteApi } from '@tanstack/react-router'
import { api, readData, type Schemas } from '../../api/client.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { type Filter, FilterBar } from '../../ui/controls/filter-bar.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { type Column, RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { Fact, Facts } from '../../ui/data/facts.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { Empty, Page } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const ENTRIES_OF_A_PAGE = 100

const FILTERS: readonly Filter[] = [
  { name: 'who', label: 'Who', kind: 'text', placeholder: 'key:…, a name, local' },
  { name: 'what', label: 'What or target', kind: 'text', placeholder: 'POST /endpoints, or an id' },
  { name: 'from', label: 'From', kind: 'datetime' },
  { name: 'to', label: 'Before', kind: 'datetime' },
]

const route = getRouteApi('/audit')

export default function AuditPage() {
  const refused = useRefusal('admin')
  return (
    <Page title="Audit log">
      {refused === undefined ? <AuditList /> : <Empty title="The audit log is for admins">{refused}</Empty>}
    </Page>
  )
}

function AuditList() {
  const search = route.useSearch()
  const { who, what, from, to } = search
  const pages = useRowPages({
    queryKey: queryKeys.audit(search),
    readPage: async (cursor, signal) => {
      const query = {
        limit: ENTRIES_OF_A_PAGE,
        ...(who && { who: [who] }),
        ...(what && { what: [what] }),
        ...(from && { from: asInstant(from) }),
        ...(to && { to: asInstant(to) }),
        ...(cursor && { cursor }),
      }
      const { entries, next } = await readData(api.GET('/audit', { params: { query }, signal }))
      return { rows: entries, next }
    },
  })
  return (
    <>
      <FilterBar filters={FILTERS} values={search} />
      <RowList
        label="Audit log"
        columns={AUDIT_COLUMNS}
        pages={pages}
        getRowId={({ id }) => id}
        of={JSON.stringify(search)}
        empty={
          Object.keys(search).length > 0 ? (
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

/** A field for times gives the time of the reader's clock, without an offset; `-1h` is for the service. */
const asInstant = (text: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) ? new Date(text).toISOString() : text

type AuditEntry = Schemas['AuditEntry']

const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  {
    title: 'What happened',
    isName: true,
    render: (entry) => (
      <>
        <Sentence {...entry} />
        {entry.note !== undefined && <VisibleText as="div" className="quiet" text={entry.note} />}
        <EntryDetails {...entry} />
      </>
    ),
  },
  { title: 'When', render: ({ at }) => <Time at={at} exact /> },
  {
    title: 'Result',
    render: ({ status, code }) => (
      <>
        <StatusChip tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</StatusChip>
        {code === undefined ? null : <code className="block">{code}</code>}
      </>
    ),
  },
]

/** Of a change of an endpoint, it leads to what was changed; of another call, to all calls like it. */
function Sentence({ sentence, target, what, before, after }: AuditEntry) {
  const text = <VisibleText text={sentence} max={500} />
  if (target === undefined || !/^[A-Z]+ \/endpoints(?!\/dry-run)/.test(what) || !/^[0-9a-f]{24}$/.test(target)) {
    return <TextLink to="/audit" search={{ what }} data-row text={text} />
  }
  const versions = before !== undefined && after !== undefined && before > 0 ? { from: before, to: after } : {}
  return <TextLink to="/endpoints/$id/versions" params={{ id: target }} search={versions} data-row text={text} />
}

/** The entry as it is stored; its caller, call and target are filters. */
const EntryDetails = ({ what, who, name, address, target, before, after, omitted }: AuditEntry) => (
  <details>
    <summary>Details</summary>
    <Facts>
      <Fact name="Call">
        <TextLink to="/audit" search={{ what }} text={<VisibleText code text={what} max={200} />} />
      </Fact>
      <Fact name="Who">
        <TextLink to="/audit" search={{ who }} text={<VisibleText text={name ?? who} max={100} />} />{' '}
        <VisibleText text={[name && who, address].filter(Boolean).join(', ')} max={100} />
      </Fact>
      <Fact name="Target">
        {target !== undefined && (
          <TextLink to="/audit" search={{ what: target }} text={<VisibleText code text={target} max={60} />} />
        )}
      </Fact>
      <Fact name="Version">{after !== undefined && `${before ? `${before} → ` : ''}${after}`}</Fact>
      <Fact name="Not written">
        {omitted !== undefined && omitted > 0 && `${omitted.toLocaleString('en')} refused calls before it`}
      </Fact>
    </Facts>
  </details>
)
