/** `/`: whether the service is ready, how its messages go, and what needs somebody. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { queries } from '../../api/queries.ts'
import { useRefusal } from '../../api/session.ts'
import { Page } from '../../ui/states/page.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { FaultyEndpoints } from './faulty-endpoints.tsx'
import { MllpPorts } from './mllp-ports.tsx'
import { OpenGroups } from './open-groups.tsx'
import { ServiceTotals } from './service-totals.tsx'
import { TopicConsumers } from './topic-consumers.tsx'

export function OverviewPage() {
  const first = useQuery(queries.endpointsFound({ limit: 1 }))
  return (
    <Page title="Overview">
      <QueryView query={first}>
        {({ total }) =>
          total === 0 ? (
            <FirstStep />
          ) : (
            <>
              <ServiceTotals endpoints={total} />
              <div className="columns wide">
                <OpenGroups />
                <FaultyEndpoints />
                <TopicConsumers />
                <MllpPorts />
              </div>
            </>
          )
        }
      </QueryView>
    </Page>
  )
}

function FirstStep() {
  const refused = useRefusal('author')
  return (
    <Empty
      title="This service has no endpoints yet"
      action={
        refused === undefined ? (
          <>
            <Link className="button primary" to="/endpoints" search={{ dialog: 'new' }}>
              New endpoint
            </Link>
            <p className="quiet">
              or{' '}
              <Link to="/endpoints" search={{ dialog: 'import' }}>
                import documents
              </Link>{' '}
              that you have
            </p>
          </>
        ) : (
          <p className="quiet">{refused}</p>
        )
      }
    >
      <p>
        Crosswalk takes messages, turns them into the form that other systems want, and sends them on. What it does with
        a message stands in one JSON document, an endpoint.
      </p>
      <p>Paste one of your messages, and it becomes the first endpoint: you see at once what comes out.</p>
    </Empty>
  )
}
