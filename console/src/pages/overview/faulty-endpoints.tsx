/** Endpoints that are not active, or active with faults: each fault leads to its place in the editor. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { EndpointRow } from '../../api/endpoint-row.ts'
import { queries } from '../../api/queries.ts'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Section } from '../../ui/states/section.tsx'
import { QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const SHOWN = 10
const MAX_FAULTS = 5

export function FaultyEndpoints() {
  const query = useQuery(queries.endpointsFound({ faults: 'true', limit: SHOWN }))
  return (
    <Section title="Endpoints with faults" ground="panel">
      <QueryView query={query}>
        {({ endpoints, total }) =>
          total === 0 ? (
            <p className="quiet">Every endpoint is active, without faults.</p>
          ) : (
            <>
              <ul className="rows stack">
                {endpoints.map((row) => (
                  <FaultyEndpoint key={row.id} row={row} />
                ))}
              </ul>
              {total > SHOWN && <p className="quiet">… and {(total - SHOWN).toLocaleString('en')} more.</p>}
            </>
          )
        }
      </QueryView>
    </Section>
  )
}

function FaultyEndpoint({ row: { id, name, active, reason } }: Readonly<{ row: EndpointRow }>) {
  const query = useQuery(queries.endpointFaults(id))
  return (
    <li className="faulty">
      <span>
        <Link to="/endpoints/$id/edit" params={{ id }}>
          <VisibleText text={name === '' ? id : name} max={100} />
        </Link>{' '}
        <StatusChip tone={reason === 'pending' ? 'busy' : active ? 'warn' : 'bad'}>
          {reason === 'pending' ? 'not compiled yet' : active ? 'active' : 'not active'}
        </StatusChip>
      </span>
      <QueryView query={query}>
        {({ error, faults }) => (
          <>
            {error === undefined ? null : (
              <span className="quiet">
                <VisibleText text={error} />
              </span>
            )}
            <ul className="failure-details">
              {faults.slice(0, MAX_FAULTS).map(({ path = '', message = '' }) => (
                <li key={`${path} ${message}`}>
                  {path !== '' && (
                    <>
                      <Link to="/endpoints/$id/edit" params={{ id }} search={{ path }}>
                        <VisibleText code text={path} max={200} />
                      </Link>{' '}
                    </>
                  )}
                  <VisibleText text={message} />
                </li>
              ))}
              {faults.length > MAX_FAULTS && <li>… and {faults.length - MAX_FAULTS} more.</li>}
            </ul>
          </>
        )}
      </QueryView>
    </li>
  )
}
