/** How the consumers of topics are doing: the ones that need somebody first. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { Section } from '../../ui/states/section.tsx'
import { QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { CONSUMER_TONES, ConsumerFigures, WORST_FIRST } from './consumer-figures.tsx'

type Consumer = Schemas['Consumer']

const SHOWN = 20
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
                .slice(0, SHOWN)
                .map((consumer) => (
                  <ConsumerRow key={consumer.endpointId} consumer={consumer} />
                ))}
            </ul>
            {consumers.length > SHOWN && <p className="quiet">… and {consumers.length - SHOWN} more.</p>}
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
