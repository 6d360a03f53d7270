/** `/deliveries/:id`: one delivery: its attempts, what it sends, and what can be done about it. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { queries } from '../../api/queries.ts'
import type { DeliveryDetail, OutgoingRequest } from '../../api/records/delivery-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Fact, Facts } from '../../ui/data/facts.tsx'
import { EndpointLink, MessageLink } from '../../ui/data/links.tsx'
import { TextViewer } from '../../ui/data/text-viewer.tsx'
import { byteCount, duration, Time } from '../../ui/data/time.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Section } from '../../ui/states/section.tsx'
import { QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { DeliveryActions } from './delivery-actions.tsx'
import { AttemptResult, DeliveryChip } from './delivery-parts.tsx'

/** An attempt that changes no state is no event. */
const EVERY_MS = 3_000

const route = getRouteApi('/deliveries/$id')

export function DeliveryPage() {
  const { id } = route.useParams()
  const query = useQuery({
    ...queries.delivery(id),
    refetchInterval: ({ state }) => (state.data?.state === 'pending' ? EVERY_MS : false),
  })
  return (
    <Page title="Delivery" above={<Link to="/deliveries">← All deliveries</Link>}>
      <QueryView query={query} what="Loading the delivery">
        {(delivery) => (
          <>
            <DeliveryActions delivery={delivery} />
            <DeliveryFacts delivery={delivery} />
            <Attempts delivery={delivery} />
            <Outgoing delivery={delivery} />
          </>
        )}
      </QueryView>
    </Page>
  )
}

function DeliveryFacts({ delivery }: Readonly<{ delivery: DeliveryDetail }>) {
  const { id, state, endedAt, dueAt, acceptedAt, endpoint, endpointId, request, item, target, key, messageId, bytes } =
    delivery
  return (
    <Facts>
      <Fact name="State">
        <DeliveryChip state={state} />{' '}
        {endedAt === undefined ? null : (
          <>
            since <Time at={endedAt} exact />
          </>
        )}
        {dueAt === undefined ? null : (
          <>
            next attempt at <Time at={dueAt} exact />
          </>
        )}
      </Fact>
      <Fact name="Delivery">
        <code>{id}</code>, {byteCount(bytes)}, accepted <Time at={acceptedAt} exact />
      </Fact>
      <Fact name="Target">
        <VisibleText text={target} max={300} />
      </Fact>
      <Fact name="Request">
        <VisibleText text={request} max={200} />
        {item === undefined ? '' : `, item ${item}`} of <EndpointLink id={endpointId} name={endpoint} />
      </Fact>
      {key === undefined ? null : (
        <Fact name="Key">
          <Link to="/deliveries" search={{ endpoint: endpointId, request, key }}>
            <VisibleText text={key} max={200} />
          </Link>
        </Fact>
      )}
      <Fact name="Message">
        <MessageLink id={messageId}>
          <code>{messageId}</code>
        </MessageLink>
        {', '}
        <Link to="/deliveries" search={{ message: messageId }}>
          all its deliveries
        </Link>
      </Fact>
    </Facts>
  )
}

function Attempts({ delivery: { attempts, lastAttempts } }: Readonly<{ delivery: DeliveryDetail }>) {
  return (
    <Section title="Attempts">
      {attempts > lastAttempts.length && (
        <p>
          The latest {lastAttempts.length} of {attempts.toLocaleString('en')} are shown.
        </p>
      )}
      {lastAttempts.length === 0 ? (
        <p className="quiet">None was made yet.</p>
      ) : (
        <ol reversed className="bullets">
          {lastAttempts.toReversed().map((attempt) => (
            <li key={attempt.at}>
              <Time at={attempt.at} exact />, {duration(attempt.ms)}: <AttemptResult attempt={attempt} />
            </li>
          ))}
        </ol>
      )}
    </Section>
  )
}

/** With the body once somebody asks for it, since that is noted in the audit log. */
function Outgoing({ delivery: { id, outgoing } }: Readonly<{ delivery: DeliveryDetail }>) {
  const refused = useRefusal('operator')
  const [isOpen, setOpen] = useState(false)
  const query = useQuery({ ...queries.deliveryRequest(id), enabled: isOpen })
  if (outgoing === undefined) return null
  return (
    <Section title="What is sent">
      {isOpen ? (
        <QueryView query={query} what="Loading the request">
          {(whole) => <WholeRequest id={id} request={whole} />}
        </QueryView>
      ) : (
        <>
          <Head request={outgoing} />
          <Button text="Show all of it, with the body" refused={refused} onPress={() => setOpen(true)} />
        </>
      )}
    </Section>
  )
}

const Head = ({
  request: { method, url, headers },
}: Readonly<{ request: Pick<OutgoingRequest, 'method' | 'url' | 'headers'> }>) => (
  <>
    <p className="breaks">
      <code>
        {method} <VisibleText text={url} max={2_000} />
      </code>
    </p>
    <ul className="bullets">
      {Object.entries(headers).map(([name, value]) => (
        <li key={name} className="breaks">
          <code>
            {name}: <VisibleText text={value} max={1_000} />
          </code>
        </li>
      ))}
    </ul>
  </>
)

function WholeRequest({ id, request }: Readonly<{ id: string; request: OutgoingRequest }>) {
  const { body, bodyBase64, masked } = request
  const text = body ?? bodyBase64
  return (
    <>
      <Head request={request} />
      {masked && <p>Parts of the body are hidden.</p>}
      {bodyBase64 === undefined ? null : <p>The body is not text; this is its Base64.</p>}
      {text === undefined ? (
        <p className="quiet">It has no body.</p>
      ) : (
        <TextViewer text={text} label="Body" fileName={`${id}-body.txt`} />
      )}
    </>
  )
}
