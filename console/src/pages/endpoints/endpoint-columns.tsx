/** The columns of the list of endpoints. */
import { Link } from '@tanstack/react-router'
import { type EndpointRow, entrancesBesideRoute } from '../../api/endpoint-row.ts'
import { MinutesBars } from '../../ui/charts/minutes-bars.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { share, shortNumber, wholeNumber } from '../../ui/data/figures.tsx'
import { LabelChip, StatusChip } from '../../ui/data/status-chip.tsx'
import { duration, Time } from '../../ui/data/time.tsx'
import { EndpointActions } from '../../ui/endpoint/endpoint-actions.tsx'
import { ScheduleFacts } from '../../ui/endpoint/schedule-facts.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const MAX_LABELS = 3
const LAST_HOUR = '-1h'
const NOT_DONE = ['partial', 'refused', 'failed']

export const ENDPOINT_COLUMNS: readonly Column<EndpointRow>[] = [
  {
    title: 'Name',
    sort: 'name',
    isName: true,
    render: ({ id, name, labels, ...row }) => (
      <>
        <Link to="/endpoints/$id/edit" params={{ id }} data-row className="row-link">
          <VisibleText text={name} max={200} />
        </Link>
        {row.active && row.reason === undefined ? null : <EndpointState {...row} />}
        {row.paused && <StatusChip tone="warn">Paused</StatusChip>}
        <Labels labels={labels} />
      </>
    ),
  },
  { title: 'Method', sort: 'method', render: ({ method }) => (method === undefined ? '–' : <code>{method}</code>) },
  {
    title: 'Pattern',
    sort: 'pattern',
    render: (row) => (
      <>
        {row.pattern === undefined ? null : (
          <code className="wrap">
            <VisibleText text={row.pattern} max={200} />
          </code>
        )}
        {entrancesBesideRoute(row).map((entrance) => (
          <div key={entrance} className="quiet">
            <VisibleText text={entrance} max={200} />
          </div>
        ))}
        {row.schedule && <ScheduleFacts schedule={row.schedule} />}
      </>
    ),
  },
  { title: 'Types', render: ({ input, output }) => (input === output ? output : `${input ?? '–'} → ${output}`) },
  {
    title: 'Messages/min',
    align: 'end',
    render: ({ stats: { perMinute } }) => (perMinute === 0 ? <span className="quiet">0</span> : shortNumber(perMinute)),
  },
  {
    title: 'Last hour',
    render: ({ id, stats: { counts, failed } }) =>
      counts === undefined ? (
        <span className="quiet">–</span>
      ) : (
        <Link to="/messages" search={{ endpoint: [id], from: LAST_HOUR }} aria-label="Messages of the last hour">
          <MinutesBars counts={counts} failed={failed ?? []} />
        </Link>
      ),
  },
  {
    title: 'Failed, 1 h',
    meaning: 'Of the messages of the last hour, those that did not end done',
    align: 'end',
    render: ({ id, stats: { count, failures } }) =>
      failures === 0 ? (
        <span className="quiet">0</span>
      ) : (
        <Link to="/messages" search={{ endpoint: [id], from: LAST_HOUR, outcome: NOT_DONE }} className="bad-text">
          {wholeNumber(failures)} of {wholeNumber(count)}, {share(failures, count)}
        </Link>
      ),
  },
  {
    title: 'p95, 1 h',
    align: 'end',
    render: ({ stats: { p95 } }) => (p95 == null ? <span className="quiet">–</span> : duration(p95)),
  },
  { title: 'Updated', sort: 'updatedAt', render: ({ updatedAt }) => <Time at={updatedAt} /> },
  { title: 'Actions', align: 'end', render: (row) => <EndpointActions row={row} inRow /> },
]

function EndpointState({ active, reason, faults }: Pick<EndpointRow, 'active' | 'reason' | 'faults'>) {
  const count = faults === 1 ? '1 fault' : `${faults} faults`
  if (reason === 'pending') return <StatusChip tone="busy">Not compiled yet</StatusChip>
  if (active) return <StatusChip tone="warn">Active with {count}</StatusChip>
  return <StatusChip tone="bad">Not active: {reason === 'clash' ? 'its name or route is taken' : count}</StatusChip>
}

function Labels({ labels }: Pick<EndpointRow, 'labels'>) {
  const all = Object.entries(labels)
  if (all.length === 0) return null
  return (
    <span className="row">
      {all.slice(0, MAX_LABELS).map(([name, value]) => (
        <LabelChip key={name} name={name} value={value} />
      ))}
      {all.length > MAX_LABELS && <span className="quiet">+{all.length - MAX_LABELS}</span>}
    </span>
  )
}
