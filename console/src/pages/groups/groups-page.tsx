/** `/groups`: failures that are alike, the largest group first. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { endpointNamesFor } from '../../api/endpoint-calls.ts'
import { queryKeys } from '../../api/query-keys.ts'
import type { FailureGroup } from '../../api/records/record-types.ts'
import { listGroups } from '../../api/records/replay-calls.ts'
import { useCodes } from '../../api/vocabulary.ts'
import { MinutesBars } from '../../ui/charts/minutes-bars.tsx'
import { toChoices } from '../../ui/controls/fields.tsx'
import { type Filter, FilterBar, type FilterValues, SPANS } from '../../ui/controls/filter-bar.tsx'
import { type Column, RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { Time } from '../../ui/data/time.tsx'
import { Empty, Page } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { GroupMark } from './group-page.tsx'
import { type GroupsSearch, readGroupsSearch, toGroupFilters } from './groups-search.ts'

/** The counts of minutes change without any event. */
const EVERY_MS = 30_000

const route = getRouteApi('/groups')

export default function GroupsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const filters = toGroupFilters(search)
  const pages = useRowPages<FailureGroup>({
    queryKey: queryKeys.groupRows(filters),
    everyMs: EVERY_MS,
    readPage: async (_cursor, signal) => ({ rows: (await listGroups(filters, signal)).groups }),
  })
  const apply = (changes: FilterValues, read: GroupsSearch) =>
    void navigate({ search: (before) => soundSearch({ ...before, ...read }, changes), replace: true })
  const change = (changes: FilterValues) => {
    const read = readGroupsSearch(changes)
    if (changes.endpoint === undefined) return apply(changes, read)
    const take = (endpoint: readonly string[]) => apply(changes, { ...read, endpoint: [...endpoint] })
    const text = changes.endpoint.trim()
    return void endpointNamesFor(text).then(take, () => take([text]))
  }
  return (
    <Page title="Failures">
      <FilterBar filters={useFilters()} values={shown(search)} onChange={change} />
      {search.error !== undefined && search.from === LAST_DAY && (search.endpoint ?? search.code) === undefined && (
        <p role="status" className="hint">
          Texts of failures are searched in the last 24 hours, unless you choose a time, an endpoint or a code.
        </p>
      )}
      <RowList
        label="Groups of failures"
        columns={GROUP_COLUMNS}
        pages={pages}
        getRowId={({ key }) => key}
        of={JSON.stringify(search)}
        empty={
          Object.keys(search).length > 0 ? (
            <Empty title="No group matches">Clear a filter to see more.</Empty>
          ) : (
            <Empty title="Nothing needs your attention" action={<Link to="/messages">To the messages</Link>}>
              Messages that failed and were not replayed with success are here, grouped by endpoint, stage, code and
              place. Groups that somebody acknowledged or ignores are left out.
            </Empty>
          )
        }
      />
    </Page>
  )
}

const LAST_DAY = '-24h'

function useFilters(): readonly Filter[] {
  const codes = useCodes()
  return [
    { name: 'endpoint', label: 'Endpoint', kind: 'search', placeholder: 'Name or id', isWhole: true },
    { name: 'code', label: 'Code', kind: 'text', suggestions: codes, isWhole: true },
    { name: 'error', label: 'Text of the failure', kind: 'text', placeholder: 'Part of its sentence' },
    {
      name: 'state',
      label: 'State',
      kind: 'select',
      anyLabel: 'open',
      choices: toChoices(['acknowledged', 'ignored', 'all']),
    },
    {
      name: 'replayed',
      label: 'Messages',
      kind: 'select',
      anyLabel: 'not fixed yet',
      choices: [
        { value: 'true', label: 'replayed with success' },
        { value: 'all', label: 'all, and failed replays' },
      ],
    },
    { name: 'from', label: 'Time', kind: 'select', choices: SPANS },
  ]
}

const shown = (search: GroupsSearch): FilterValues =>
  Object.fromEntries(Object.entries(search).map(([name, value]) => [name, [value].flat().join(', ')]))

/** Without what was cleared; a search in the text of errors is one of the last day unless something narrows it. */
function soundSearch(search: GroupsSearch, changes: FilterValues): GroupsSearch {
  const kept = Object.fromEntries(
    Object.entries(search).filter(([name]) => !(name in changes && changes[name] === undefined)),
  ) as GroupsSearch
  const isNarrow = kept.error === undefined || (kept.endpoint ?? kept.code ?? kept.from) !== undefined
  return isNarrow ? kept : { ...kept, from: LAST_DAY }
}

const GROUP_COLUMNS: readonly Column<FailureGroup>[] = [
  {
    title: 'Failure',
    isName: true,
    render: ({ key, code, stage, path }) => (
      <>
        <Link to="/groups/$key" params={{ key }} data-row className="row-link">
          <code>{code ?? 'no code'}</code>
        </Link>
        <div className="quiet breaks">
          {stage === undefined ? 'before the first stage' : `in ${stage}`}
          {path === undefined ? null : (
            <>
              , at <VisibleText code text={path} max={160} />
            </>
          )}
        </div>
      </>
    ),
  },
  {
    title: 'Endpoint',
    render: ({ endpoint, endpointId }) =>
      endpoint === undefined ? (
        <span className="quiet">{endpointId ?? 'no endpoint accepted them'}</span>
      ) : (
        <VisibleText text={endpoint} max={120} />
      ),
  },
  { title: 'Messages', align: 'end', render: ({ count }) => count.toLocaleString('en') },
  { title: 'Last hour', render: ({ minutes }) => <MinutesBars counts={minutes} failed={minutes} /> },
  { title: 'Newest', render: ({ lastSeen }) => <Time at={lastSeen} /> },
  { title: 'State', render: (group) => <GroupMark group={group} /> },
]
