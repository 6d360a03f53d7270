/** `/unmapped`: the codes that messages missed in tables: filled here, and their messages replayed. */

import { useMutation, useQueries, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ClipboardEvent, useState, useSyncExternalStore } from 'react'
import { asFailure } from '../../api/api-failure.ts'
import { queries } from '../../api/queries.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { createStore, type Store, useStore } from '../../api/store.ts'
import { changeRows, removeUnmapped, type TableRow, type UnmappedCode } from '../../api/table-calls.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Checkbox, SelectField, TextField, toChoices } from '../../ui/controls/fields.tsx'
import { type Filter, FilterBar } from '../../ui/controls/filter-bar.tsx'
import { PlanButton } from '../../ui/controls/plan-button.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { type Column, DataTable, FreshRows, useStableRows } from '../../ui/data/data-table.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { EndpointLink, StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Empty, Loading, Page, QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { parsePasted, toRows } from './parse-pasted.ts'
import './tables.css'

const route = getRouteApi('/unmapped')

export default function UnmappedPage() {
  const query = useQuery(queries.tables)
  return (
    <Page title="Unmapped codes">
      <QueryView query={query} what="Loading the tables">
        {(tables) => <Codes tables={tables} isCurrent={query.isFetchedAfterMount} />}
      </QueryView>
    </Page>
  )
}

/** `isCurrent`: the tables are not older than the view. */
function Codes({ tables, isCurrent }: Readonly<{ tables: readonly TableRow[]; isCurrent: boolean }>) {
  const { table: wanted, endpoint } = route.useSearch()
  /** What is typed, by `keyOf`: a key renders its field alone, not the list. */
  const [values] = useState(() => createStore<Values>(new Map()))
  const [pasted, setPasted] = useState('')
  const [round, setRound] = useState(0)
  const [chosen, setChosen] = useState<Chosen>({})
  const refused = useRefusal('author')
  const { rows, endpoints, notes, failure, isPending, isFetched } = useMissedRows(tables, wanted, endpoint, chosen)
  const of = JSON.stringify([wanted, endpoint, round])
  const stable = useStableRows(rows, keyOf, isCurrent && isFetched ? of : undefined)
  const settle = () => reload(queryParts.tables)
  const remove = useMutation({
    mutationFn: ({ table, code }: MissedRow) => removeUnmapped(table.name, [code]),
    onError: (thrown) => notify(asFailure(thrown).message, 'warn'),
    // The reader's own change is shown at once.
    onSettled: () => settle().then(() => setRound((before) => before + 1)),
  })
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text/plain')
    const at = rowAt(event.target)
    if (at === undefined || !/[\t\n\r]/.test(text.trim())) return
    event.preventDefault()
    const found = matchPasted(text, stable.rows, at)
    values.set(new Map([...values.get(), ...found.values]))
    setPasted(found.said)
  }
  const filters: readonly Filter[] = [
    { name: 'table', label: 'Table', kind: 'select', choices: toChoices(tables.map(({ name }) => name)) },
    { name: 'endpoint', label: 'Endpoint', kind: 'select', choices: endpoints },
  ]
  return (
    <>
      <FilterBar filters={filters} values={{ table: wanted, endpoint }} />
      <FailureNotice failure={failure} onRetry={() => void settle()} />
      <FreshRows fresh={stable.fresh} gone={stable.gone} onShow={stable.show} />
      {isPending ? (
        <Loading what="Loading the codes" />
      ) : stable.rows.length === 0 && (wanted ?? endpoint) !== undefined ? (
        <Empty title="No code matches">Clear a filter to see more.</Empty>
      ) : stable.rows.length === 0 ? (
        <Empty
          title="There are no unmapped codes"
          action={tables.length > 0 ? undefined : <Link to="/tables">To the tables</Link>}
        >
          A code that a message looks for in a table, and that the table has nothing for, is listed here. Fill it, and
          replay the messages that missed it.
        </Empty>
      ) : (
        <>
          {refused === undefined &&
            columnsToChoose(rows).map(([name, columns]) => (
              <SelectField
                key={name}
                label={`Column of ${name} to fill for codes that lookups missed`}
                value={chosen[name] ?? ''}
                choices={[{ value: '', label: 'Choose …' }, ...toChoices(columns)]}
                onChange={(column) => setChosen((before) => ({ ...before, [name]: column }))}
              />
            ))}
          <Fill rows={rows} values={values} refused={refused} />
          <p role="status">{pasted}</p>
          <div onPaste={paste}>
            <DataTable
              label="Unmapped codes"
              columns={unmappedColumns(values, refused, remove.mutate)}
              rows={stable.rows}
              getRowId={keyOf}
            />
          </div>
          {notes.map((note) => (
            <p key={note} className="quiet">
              {note}
            </p>
          ))}
        </>
      )}
    </>
  )
}

/** The columns that the user fills for codes of lookups, by table. */
type Chosen = Readonly<Record<string, string>>

/** The codes of all tables that lack some, or of one. */
function useMissedRows(
  tables: readonly TableRow[],
  wanted: string | undefined,
  endpoint: string | undefined,
  chosen: Chosen,
) {
  const shown = tables.filter(({ name, unmapped, filled }) =>
    wanted === undefined ? unmapped + filled > 0 : name === wanted,
  )
  const answers = useQueries({ queries: shown.map(({ name }) => queries.unmapped(name)) })
  const all = answers.flatMap(({ data }, at) =>
    (data?.codes ?? []).flatMap((code): readonly MissedRow[] => {
      const table = shown[at]
      return table === undefined ? [] : [{ ...code, table, fill: columnToFill(table, code.column, chosen) }]
    }),
  )
  const names = new Map(all.flatMap(({ endpoints }) => endpoints.map(({ id, name }) => [id, name] as const)))
  const notes = answers.flatMap(({ data }, at) => {
    if (data === undefined) return []
    const { codes, codesInAll, uncounted } = data
    const name = shown[at]?.name
    const more =
      codesInAll > codes.length
        ? [`${name} lacks ${wholeNumber(codesInAll)} codes; those that were missed most often are listed.`]
        : []
    return uncounted === 0 ? more : [...more, `${name}: ${wholeNumber(uncounted)} misses of codes that are not listed.`]
  })
  return {
    rows: endpoint === undefined ? all : all.filter(({ endpoints }) => endpoints.some(({ id }) => id === endpoint)),
    endpoints: Array.from(names, ([value, label]) => ({ value, label })),
    notes,
    failure: answers.find((one) => one.error !== null)?.error,
    isFetched: answers.every((one) => one.isFetchedAfterMount),
    isPending: answers.some((one) => one.isPending && one.error === null),
  }
}

/** A lookup gets the whole row, so that it misses the key: of several columns, the user knows which one is to be filled. */
function columnToFill({ name, columns: [key, ...others] }: TableRow, missed: string, chosen: Chosen) {
  if (missed !== key) return missed
  return others.length === 1 ? others[0] : others.find((column) => column === chosen[name])
}

/** By table, the columns one of which is to be filled for codes of lookups. */
function columnsToChoose(rows: readonly MissedRow[]) {
  const open = rows.filter(
    ({ table, column, filled }) => !filled && column === table.columns[0] && table.columns.length > 2,
  )
  return [...new Map(open.map(({ table }) => [table.name, table.columns.slice(1)]))]
}

type FillProps = Readonly<{ rows: readonly MissedRow[]; values: Store<Values>; refused: string | undefined }>

/** Stores what was typed, all at once for each table; then the way to the messages that missed it. */
function Fill({ rows, values: typedValues, refused }: FillProps) {
  const values = useStore(typedValues)
  const [withDone, setWithDone] = useState(false)
  const typed = rows.filter((row) => row.fill !== undefined && (values.get(keyOf(row)) ?? '') !== '')
  const filled = rows.filter((row) => row.filled)
  const store = useMutation({
    mutationFn: async () => {
      for (const [{ name, columns }, own] of Map.groupBy(typed, ({ table }) => table)) {
        const change = Array.from(
          Map.groupBy(own, ({ code }) => code),
          ([code, some]) =>
            Object.fromEntries([
              [columns[0] ?? '', code],
              ...some.map((row) => [row.fill ?? '', values.get(keyOf(row)) ?? ''] as const),
            ]),
        )
        await changeRows(name, { rows: change }, { note: 'Codes that messages missed' })
      }
    },
    onSuccess: () => typedValues.set(new Map()),
    onSettled: () => reload(queryParts.tables),
  })
  const missed = [...new Set(filled.map(({ table, code }) => `${table.name}:${code}`))]
  return (
    <>
      <div className="row">
        <Button
          tone={typed.length > 0 ? 'primary' : 'plain'}
          refused={
            refused ?? (typed.length === 0 ? 'Type or paste what the codes are translated to first.' : undefined)
          }
          busy={store.isPending}
          onPress={() => store.mutate()}
        >
          {typed.length === 0 ? 'Fill' : `Fill ${countCodes(typed.length)}`}
        </Button>
        {missed.length > 0 && (
          <>
            <PlanButton
              tone={typed.length === 0 ? 'primary' : 'plain'}
              filters={{ missed, ...(withDone && { outcome: ['done', 'partial', 'refused', 'failed'] }) }}
            >
              Replay the messages that missed these …
            </PlanButton>
            <Checkbox checked={withDone} onChange={setWithDone}>
              Also those that ended done; their targets get them again
            </Checkbox>
          </>
        )}
      </div>
      {missed.length > 0 && (
        <p role="status">
          {countCodes(missed.length)} {missed.length === 1 ? 'is' : 'are'} filled; the messages that missed{' '}
          {missed.length === 1 ? 'it' : 'them'} were not replayed yet.
        </p>
      )}
      <FailureNotice failure={store.error} />
    </>
  )
}

const countCodes = (count: number): string => `${wholeNumber(count)} ${count === 1 ? 'code' : 'codes'}`

function rowAt(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest('tbody tr') : null
  return row === null ? undefined : Array.from(row.parentElement?.children ?? []).indexOf(row)
}

/**
 * What spreadsheets copy, for the rows from `at` on: lines of a code and what it is translated to are for the codes of the
 * same table, wherever they are listed; lines of one cell are for one row after the other.
 */
function matchPasted(text: string, rows: readonly MissedRow[], at: number) {
  const lines = parsePasted(text)
  const first = rows[at]
  const open = (row: MissedRow) => !row.filled && row.fill !== undefined
  if (lines.every(({ length }) => length === 1)) {
    const targets = rows.slice(at).filter(open)
    const values = targets.slice(0, lines.length).map((row, index) => [keyOf(row), lines[index]?.[0] ?? ''] as const)
    return { values, said: sayPasted(values.length, lines.length - values.length) }
  }
  const {
    name,
    columns: [key = ''],
  } = first?.table ?? { name: '', columns: [] }
  const pasted = toRows(lines, [key, first?.fill ?? ''])
  const byCode = new Map(pasted.map((row) => [row[key] ?? '', row]))
  const own = rows.filter((row) => row.table.name === name && open(row))
  const values = own.flatMap((row) => {
    const value = byCode.get(row.code)?.[row.fill ?? '']
    return value === undefined ? [] : [[keyOf(row), value] as const]
  })
  const listed = new Set(own.map(({ code }) => code))
  return { values, said: sayPasted(values.length, pasted.filter((row) => !listed.has(row[key] ?? '')).length) }
}

const sayPasted = (taken: number, left: number): string =>
  `${wholeNumber(taken)} pasted${left === 0 ? '' : `; ${wholeNumber(left)} of the lines ${left === 1 ? 'is' : 'are'} of no code that is listed`}.`

/** `fill`: the column to fill; undefined while the user has to choose it. */
type MissedRow = UnmappedCode & Readonly<{ table: TableRow; fill: string | undefined }>

const keyOf = ({ table, column, code }: MissedRow): string => JSON.stringify([table.name, column, code])

/** What is typed, by `keyOf`. */
type Values = ReadonlyMap<string, string>

const MAX_CHARACTERS = 200
const MAX_ENDPOINTS = 3

const unmappedColumns = (
  values: Store<Values>,
  refused: string | undefined,
  onRemove: (row: MissedRow) => void,
): readonly Column<MissedRow>[] => [
  {
    title: 'Code',
    isName: true,
    render: ({ table: { name }, code }) => (
      <Link to="/messages" search={{ missed: [`${name}:${code}`] }} data-row title="Messages that missed it">
        <VisibleText code text={code} max={MAX_CHARACTERS} />
        <span className="visually-hidden">, messages that missed it in {name}</span>
      </Link>
    ),
  },
  {
    title: 'Table',
    render: ({ table: { name }, code, column }) => (
      <span>
        <TextLink to="/tables/$name" params={{ name }} search={{ search: code }} text={name} /> ·{' '}
        <VisibleText text={column} max={MAX_CHARACTERS} />
      </span>
    ),
  },
  {
    title: 'Translated to',
    render: (row) =>
      row.filled ? (
        <StatusChip tone="good">filled</StatusChip>
      ) : refused !== undefined ? (
        <span className="quiet">–</span>
      ) : row.fill === undefined ? (
        <span className="quiet">Choose the column first</span>
      ) : (
        <ValueField row={row} values={values} />
      ),
  },
  { title: 'Missed', align: 'end', render: ({ count }) => wholeNumber(count) },
  { title: 'First', render: ({ firstAt }) => <Time at={firstAt} /> },
  {
    title: 'Last',
    render: ({ lastAt, messages: [newest] }) =>
      newest === undefined ? (
        <Time at={lastAt} />
      ) : (
        <TextLink to="/messages/$id" params={{ id: newest }} title="The newest message" text={<Time at={lastAt} />} />
      ),
  },
  {
    title: 'Endpoints',
    render: ({ endpoints }) => (
      <>
        {endpoints.slice(0, MAX_ENDPOINTS).map(({ id, name, count }) => (
          <div key={id}>
            <EndpointLink id={id} name={name} /> <span className="quiet">{wholeNumber(count)}</span>
          </div>
        ))}
        {endpoints.length > MAX_ENDPOINTS && <span className="quiet">and {endpoints.length - MAX_ENDPOINTS} more</span>}
      </>
    ),
  },
  {
    title: 'Remove',
    render: (row) => (
      <Button
        text="×"
        tone="quiet"
        label={`Remove ${row.code} of ${row.table.name} from the list`}
        refused={refused}
        onPress={() => onRemove(row)}
      />
    ),
  },
]

/** Only the field whose value changes is rendered again. */
function ValueField({ row, values }: Readonly<{ row: MissedRow; values: Store<Values> }>) {
  const key = keyOf(row)
  return (
    <TextField
      label={`${row.fill} of ${row.code} in ${row.table.name}`}
      hideLabel
      value={useSyncExternalStore(values.subscribe, () => values.get().get(key) ?? '')}
      onChange={(value) => values.set(new Map(values.get()).set(key, value))}
    />
  )
}
