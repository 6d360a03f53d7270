/** `/deliveries`: requests that are stored until their target has them, newest first. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { DELIVERY_STATES, type DeliveryAct } from '../../../../src/core/deliveries/delivery.ts'
import { queries } from '../../api/queries.ts'
import { queryKeys, queryParts, reload } from '../../api/query-keys.ts'
import {
  changeDeliveries,
  type DeliveryState,
  type ListedDelivery,
  listDeliveries,
} from '../../api/records/delivery-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { ConfirmButton } from '../../ui/controls/dialog.tsx'
import { toChoices } from '../../ui/controls/fields.tsx'
import { type Filter, FilterBar, SPANS } from '../../ui/controls/filter-bar.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { type Column, RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { Figures } from '../../ui/data/figures.tsx'
import { byteCount, Time } from '../../ui/data/time.tsx'
import { Empty, Page } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { AttemptResult, DeliveryChip } from './delivery-page.tsx'

const DELIVERIES_OF_A_PAGE = 100
/** An attempt that changes no state is no event. */
const EVERY_MS = 10_000

const FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', kind: 'select', choices: toChoices(DELIVERY_STATES) },
  { name: 'endpoint', label: 'Endpoint', kind: 'search', placeholder: 'Name or id', isWhole: true },
  { name: 'request', label: 'Request', kind: 'text', placeholder: 'Its id', isWhole: true },
  { name: 'target', label: 'Target', kind: 'text', placeholder: 'As the list has it', isWhole: true },
  { name: 'key', label: 'Key', kind: 'text', isWhole: true },
  { name: 'from', label: 'Accepted', kind: 'select', choices: SPANS },
]

const route = getRouteApi('/deliveries')
type DeliveriesSearch = ReturnType<typeof route.useSearch>

export default function DeliveriesPage() {
  const search = route.useSearch()
  const pages = useRowPages<ListedDelivery>({
    queryKey: queryKeys.deliveryRows(search),
    everyMs: EVERY_MS,
    readPage: async (cursor, signal) => {
      const { deliveries, next } = await listDeliveries(search, { limit: DELIVERIES_OF_A_PAGE, cursor }, signal)
      return { rows: deliveries, next }
    },
  })
  const isFiltered = Object.values(search).some((value) => value !== undefined)
  return (
    <Page title="Deliveries" actions={<ChangeAll search={search} />}>
      <Counts />
      <FilterBar filters={FILTERS} values={search} />
      <RowList
        label="Deliveries"
        columns={DELIVERY_COLUMNS}
        pages={pages}
        getRowId={({ id }) => id}
        of={JSON.stringify(search)}
        empty={
          isFiltered ? (
            <Empty title="No delivery matches">Clear a filter to see more.</Empty>
          ) : (
            <Empty title="There are no deliveries" action={<Link to="/endpoints">To the endpoints</Link>}>
              A response request with <code>delivery</code> is stored with its message, and sent until its target has
              it.
            </Empty>
          )
        }
      />
    </Page>
  )
}

function Counts() {
  const { data } = useQuery(queries.deliveryCounts)
  if (data === undefined || data.counts.length === 0) return null
  const { counts, oldestAt } = data
  const figures = DELIVERY_STATES.map((state) => {
    const own = counts.filter((one) => one.state === state)
    const count = own.reduce((sum, one) => sum + one.count, 0)
    const bytes = own.reduce((sum, one) => sum + one.bytes, 0)
    const isBad = state === 'undeliverable' && count > 0
    return {
      name: state,
      value: <TextLink to="/deliveries" search={{ state }} text={count.toLocaleString('en')} />,
      hint:
        state === 'pending' && oldestAt !== undefined ? (
          <>
            {byteCount(bytes)}, the oldest <Time at={oldestAt} />
          </>
        ) : (
          byteCount(bytes)
        ),
      ...(isBad && { tone: 'bad' as const }),
    }
  })
  return <Figures label="Deliveries by state" figures={figures} />
}

const ACTS = {
  retry: {
    text: 'Retry all that match …',
    title: 'Retry the deliveries',
    confirm: 'Retry them',
    tone: 'plain',
    effect: 'Each is sent again at once, as it was made, in the order of its key:',
    done: 'sent again',
    states: ['pending', 'undeliverable', 'cancelled'] as readonly DeliveryState[],
  },
  cancel: {
    text: 'Cancel all that match …',
    title: 'Cancel the deliveries',
    confirm: 'Cancel them',
    tone: 'danger',
    effect: 'None of them is sent any more; one that is being sent may arrive nevertheless:',
    done: 'cancelled',
    states: ['pending', 'undeliverable'] as readonly DeliveryState[],
  },
} as const

/** Of one state: what a button changes is what the list shows. */
function ChangeAll({ search }: Readonly<{ search: DeliveriesSearch }>) {
  const refused = useRefusal('operator')
  const [said, setSaid] = useState('')
  const { state } = search
  const run = async (act: DeliveryAct) => {
    try {
      const { count, more } = await changeDeliveries(act, search)
      setSaid(`${count.toLocaleString('en')} ${ACTS[act].done}${more ? '; others that match are left' : ''}.`)
    } finally {
      void reload(queryParts.deliveries)
    }
  }
  const filters = Object.entries(search).filter(([, value]) => value !== undefined)
  return (
    <>
      <span role="status">{said}</span>
      {(['retry', 'cancel'] as const).map((act) => {
        const { effect, done: _, states, ...button } = ACTS[act]
        const isOther = state === undefined || !states.includes(state)
        return (
          <ConfirmButton
            key={act}
            {...button}
            refused={refused ?? (isOther ? `Choose the state ${states.join(' or ')}.` : undefined)}
            onConfirm={() => run(act)}
          >
            <p>{effect}</p>
            <ul>
              {filters.map(([name, value]) => (
                <li key={name}>
                  {name}: <VisibleText text={String(value)} max={200} />
                </li>
              ))}
            </ul>
          </ConfirmButton>
        )
      })}
    </>
  )
}

const DELIVERY_COLUMNS: readonly Column<ListedDelivery>[] = [
  {
    title: 'Target',
    isName: true,
    render: ({ id, target, request }) => (
      <>
        <Link to="/deliveries/$id" params={{ id }} data-row className="row-link breaks">
          <VisibleText text={target} max={160} />
          <span className="visually-hidden">, delivery {id}</span>
        </Link>
        <div className="quiet">
          request <VisibleText text={request} max={120} />
        </div>
      </>
    ),
  },
  { title: 'State', render: ({ state }) => <DeliveryChip state={state} /> },
  { title: 'Endpoint', render: ({ endpoint }) => <VisibleText text={endpoint} max={120} /> },
  {
    title: 'Key',
    meaning: 'Deliveries with the same key arrive in order.',
    render: ({ key }) => <VisibleText text={key} max={80} />,
  },
  { title: 'Accepted', render: ({ acceptedAt }) => <Time at={acceptedAt} /> },
  { title: 'Attempts', align: 'end', render: ({ attempts }) => attempts.toLocaleString('en') },
  {
    title: 'Last attempt',
    render: ({ lastAttempt }) =>
      lastAttempt === undefined ? <span className="quiet">–</span> : <AttemptResult attempt={lastAttempt} />,
  },
]
