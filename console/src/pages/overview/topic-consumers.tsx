/** How the consumers of topics are doing: the ones that need somebody first. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { QueryView, Section } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

type Consumer = Schemas['Consumer']

const MAX_CONSUMERS = 20
/** The figures change with each record, and no event says so. */
const EVERY_MS = 5_000

/** Nothing without topics: most services have none. */
export function TopicConsumers() {
  const query = useQuery({ ...queries.consumers, refetchInterval: EVERY_MS })
  if (query.error === null && (query.data === undefined || query.data.length === 0)) return null
  return (
    <Section title="Consumers of topics" ground="wide">
      <QueryView query={query}>
        {(consumers) => (
          <>
            <ul className="rows stack">
              {sorted(consumers)
                .slice(0, MAX_CONSUMERS)
                .map((consumer) => (
                  <ConsumerRow key={consumer.endpointId} consumer={consumer} />
                ))}
            </ul>
            {consumers.length > MAX_CONSUMERS && (
              <p className="quiet">… and {consumers.length - MAX_CONSUMERS} more.</p>
            )}
          </>
        )}
      </QueryView>
    </Section>
  )
}

const sorted = (consumers: readonly Consumer[]): readonly Consumer[] =>
  consumers.toSorted(
    (one, other) => WORST_FIRST.indexOf(one.state) - WORST_FIRST.indexOf(other.state) || other.lag - one.lag,
  )

function ConsumerRow({ consumer }: Readonly<{ consumer: Consumer }>) {
  const { endpointId, endpoint, topic, state, lastError } = consumer
  return (
    <li className="faulty">
      <span>
        <Link to="/endpoints/$id/stats" params={{ id: endpointId }}>
          <VisibleText text={endpoint} max={100} />
        </Link>{' '}
        <StatusChip tone={CONSUMER_TONES[state]}>{state}</StatusChip>
      </span>
      <span className="quiet">
        topic <VisibleText text={topic} max={100} />
      </span>
      <ConsumerFigures consumer={consumer} />
      {lastError !== undefined && (
        <span className={state === 'running' ? 'quiet' : 'bad-text'}>
          <VisibleText text={lastError.message} max={300} /> (<Time at={lastError.at} />)
        </span>
      )}
    </li>
  )
}

type Partition = Consumer['partitions'][number]

/** As docs/kafka.md explains them. */
const MEANINGS = {
  lag: 'Records between the committed offset and the end of the log',
  underWay: 'Records that run now',
  retrying: 'Records that failed and wait for their next attempt, or for a change of the endpoint',
  holes: 'Gaps of records that are not done, beyond the committed offset and before the last record that is done',
  oldest: 'When the oldest record that is not done was started',
} as const

const CONSUMER_TONES: Readonly<Record<Consumer['state'], Tone>> = {
  running: 'good',
  connecting: 'busy',
  waiting: 'warn',
  stopped: 'bad',
}
const WORST_FIRST: readonly Consumer['state'][] = ['stopped', 'waiting', 'connecting', 'running']

const MAX_PARTITIONS = 100

function ConsumerFigures({ consumer }: Readonly<{ consumer: Consumer }>) {
  const { lag, underWay, retrying, holes, oldestAt, partitions } = consumer
  return (
    <>
      <span className="quiet row">
        <Figure title={MEANINGS.lag}>lag {wholeNumber(lag)}</Figure>
        <Figure title={MEANINGS.underWay}>{wholeNumber(underWay)} under way</Figure>
        <Figure title={MEANINGS.retrying}>{wholeNumber(retrying)} retrying</Figure>
        <Figure title={MEANINGS.holes}>{holes === 1 ? '1 hole' : `${wholeNumber(holes)} holes`}</Figure>
        {oldestAt !== undefined && (
          <Figure title={MEANINGS.oldest}>
            oldest <Time at={oldestAt} />
          </Figure>
        )}
      </span>
      {partitions.length > 0 && <Partitions partitions={partitions} />}
    </>
  )
}

const Figure = ({ title, children }: Readonly<{ title: string; children: ReactNode }>) => (
  <span title={title}>{children}</span>
)

function Partitions({ partitions }: Pick<Consumer, 'partitions'>) {
  // The rows are made when they are asked for: a topic may have hundreds.
  const [isOpen, setOpen] = useState(false)
  const { length } = partitions
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{length === 1 ? '1 partition' : `${wholeNumber(length)} partitions`}</summary>
      {isOpen && (
        <>
          <DataTable
            label="Partitions"
            columns={COLUMNS}
            rows={worstFirst(partitions).slice(0, MAX_PARTITIONS)}
            getRowId={({ partition }) => String(partition)}
          />
          {length > MAX_PARTITIONS && <p className="quiet">… and {wholeNumber(length - MAX_PARTITIONS)} more.</p>}
        </>
      )}
    </details>
  )
}

const worstFirst = (partitions: readonly Partition[]): readonly Partition[] =>
  partitions.toSorted(
    (one, other) =>
      WORST_FIRST.indexOf(one.state) - WORST_FIRST.indexOf(other.state) ||
      other.lag - one.lag ||
      one.partition - other.partition,
  )

const COLUMNS: readonly Column<Partition>[] = [
  {
    title: 'Partition',
    isName: true,
    render: ({ partition, state }) => (
      <>
        Partition {partition}
        <StatusChip tone={CONSUMER_TONES[state]}>{state}</StatusChip>
      </>
    ),
  },
  { title: 'Lag', meaning: MEANINGS.lag, align: 'end', render: ({ lag }) => wholeNumber(lag) },
  { title: 'Under way', meaning: MEANINGS.underWay, align: 'end', render: ({ underWay }) => wholeNumber(underWay) },
  { title: 'Retrying', meaning: MEANINGS.retrying, align: 'end', render: ({ retrying }) => wholeNumber(retrying) },
  { title: 'Holes', meaning: MEANINGS.holes, align: 'end', render: ({ holes }) => wholeNumber(holes) },
  { title: 'Oldest', meaning: MEANINGS.oldest, align: 'end', render: ({ oldestAt }) => <Time at={oldestAt} /> },
]
