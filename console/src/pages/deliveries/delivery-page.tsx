/** `/deliveries/:id`: one delivery: its attempts, what it sends, and what can be done about it. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import { get } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { queryClient, queryParts, reload } from '../../api/query-keys.ts'
import {
  cancelDelivery,
  type DeliveryDetail,
  type DeliveryState,
  type OutgoingRequest,
  type RetriedDelivery,
  retryDelivery,
} from '../../api/records/delivery-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton, ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TaskButton } from '../../ui/controls/plan-button.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { Fact, Facts } from '../../ui/data/facts.tsx'
import { EndpointLink, MessageLink, OutcomeChip, StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { TextViewer } from '../../ui/data/text-viewer.tsx'
import { byteCount, duration, Time } from '../../ui/data/time.tsx'
import { Answer, Page, QueryView, Section } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

/** An attempt that changes no state is no event. */
const EVERY_MS = 3_000

const route = getRouteApi('/deliveries/$id')

export default function DeliveryPage() {
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
      <Fact name="Target" value={<VisibleText text={target} max={300} />} />
      <Fact name="Request">
        <VisibleText text={request} max={200} />
        {item === undefined ? '' : `, item ${item}`} of <EndpointLink id={endpointId} name={endpoint} />
      </Fact>
      <Fact name="Key">
        {key !== undefined && (
          <Link to="/deliveries" search={{ endpoint: endpointId, request, key }}>
            <VisibleText text={key} max={200} />
          </Link>
        )}
      </Fact>
      <Fact name="Message">
        <MessageLink id={messageId} />
        {', '}
        <TextLink to="/deliveries" search={{ message: messageId }} text="all its deliveries" />
      </Fact>
    </Facts>
  )
}

const Attempts = ({ delivery: { attempts, lastAttempts } }: Readonly<{ delivery: DeliveryDetail }>) => (
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

/** With the body once somebody asks for it, since that is noted in the audit log. */
function Outgoing({ delivery: { id, outgoing } }: Readonly<{ delivery: DeliveryDetail }>) {
  const refused = useRefusal('operator')
  const [isOpen, setOpen] = useState(false)
  if (outgoing === undefined) return null
  return (
    <Section title="What is sent">
      {isOpen ? (
        <Answer of={{ ...queries.deliveryRequest(id), enabled: isOpen }} what="Loading the request">
          {({ body, bodyBase64, masked, ...head }) => (
            <>
              <Head {...head} />
              {masked && <p>Parts of the body are hidden.</p>}
              {bodyBase64 === undefined ? null : <p>The body is not text; this is its Base64.</p>}
              {body === undefined && bodyBase64 === undefined ? (
                <p className="quiet">It has no body.</p>
              ) : (
                <TextViewer text={body ?? bodyBase64 ?? ''} label="Body" fileName={`${id}-body.txt`} />
              )}
            </>
          )}
        </Answer>
      ) : (
        <>
          <Head {...outgoing} />
          <Button text="Show all of it, with the body" refused={refused} onPress={() => setOpen(true)} />
        </>
      )}
    </Section>
  )
}

const Head = ({ method, url, headers }: Pick<OutgoingRequest, 'method' | 'url' | 'headers'>) => (
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

const NOT_EDITABLE =
  'Parts of the body are hidden, or it is not text, so it cannot be edited here. POST /deliveries/{id}/retry takes a whole body.'

function DeliveryActions({ delivery }: Readonly<{ delivery: DeliveryDetail }>) {
  const { id, state, outgoing } = delivery
  const refused = useRefusal('operator')
  /** The body to send instead, before its changes; undefined until it is edited. */
  const [edited, setEdited] = useState<string>()
  const [replay, setReplay] = useState<Pick<RetriedDelivery, 'replay' | 'warning'>>({})
  const edit = async () => {
    const { body, masked } = await get('/deliveries/{id}/request', { path: { id } })
    // What is hidden would be sent as it is shown.
    if (masked || body === undefined) throw new ApiFailure(NOT_EDITABLE, { status: 422 })
    setEdited(body)
  }
  if (state === 'delivered') return null
  const run = async (act: () => Promise<DeliveryDetail | RetriedDelivery>) => {
    try {
      const after = await act()
      setReplay('replay' in after ? after : {})
    } finally {
      void reload(queryParts.deliveries)
      queryClient.removeQueries({ queryKey: queries.deliveryRequest(id).queryKey })
    }
  }
  return (
    <section aria-label="Actions">
      <div className="row">
        <ConfirmButton
          text="Retry …"
          title="Retry the delivery"
          confirm="Retry"
          tone="primary"
          refused={refused}
          onConfirm={() => run(() => retryDelivery(id, {}))}
        >
          The same request is sent again at once, in the order of its key.
        </ConfirmButton>
        <TaskButton
          text="Retry with another body …"
          refused={refused ?? (outgoing?.contentType === undefined ? 'Its request has no body.' : undefined)}
          run={edit}
        />
        <ConfirmButton
          text="Retry through the document of today …"
          title="Retry through the document of today"
          confirm="Run the message"
          refused={refused}
          onConfirm={() => run(() => retryDelivery(id, { endpoint: 'now' }))}
        >
          The message runs again, through its endpoint as it is now; of its requests, only this one is made. If the
          message succeeds, this delivery is cancelled.
        </ConfirmButton>
        {state !== 'cancelled' && (
          <ConfirmButton
            text="Cancel the delivery …"
            title="Cancel the delivery"
            confirm="Cancel the delivery"
            tone="danger"
            refused={refused}
            onConfirm={() => run(() => cancelDelivery(id))}
          >
            It is not sent any more, and what waits behind it goes on. If it is being sent at this moment, it may arrive
            nevertheless.
          </ConfirmButton>
        )}
      </div>
      <Replayed {...replay} />
      {edited !== undefined && (
        <ConfirmDialog
          title="Retry with another body"
          size="large"
          confirm="Retry with this body"
          isDismissable={false}
          field={{
            label: 'Body',
            initial: edited,
            rows: 14,
            explainRefusal: (body) => (body === edited ? 'Change the body first.' : undefined),
          }}
          onConfirm={(body) => run(() => retryDelivery(id, { body }))}
          onClose={() => setEdited(undefined)}
        />
      )}
    </section>
  )
}

/** What became of the message that ran through the document of today. */
function Replayed({ replay, warning }: Pick<RetriedDelivery, 'replay' | 'warning'>) {
  if (replay === undefined) return null
  return (
    <div role="status">
      <p>
        <OutcomeChip outcome={replay.outcome} />{' '}
        <Link to="/messages/$id" params={{ id: replay.id }}>
          The message ran as <code>{replay.id}</code>
        </Link>
        {replay.error === undefined ? null : (
          <>
            : <VisibleText text={replay.error} />
          </>
        )}
      </p>
      {warning === undefined ? null : <VisibleText as="p" className="bad-text" text={warning} />}
    </div>
  )
}

const TONES: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'busy',
  delivered: 'good',
  undeliverable: 'bad',
  cancelled: 'quiet',
}

export const DeliveryChip = ({ state }: Readonly<{ state: DeliveryState }>) => (
  <StatusChip tone={TONES[state]}>{state}</StatusChip>
)

type Attempt = DeliveryDetail['lastAttempts'][number]

/** The status or the fault of an attempt, and its sentence. */
export const AttemptResult = ({ attempt: { status, fault, message } }: Readonly<{ attempt: Attempt }>) => (
  <>
    {status ?? fault}
    {message === undefined ? null : (
      <span className="quiet">
        {status === undefined && fault === undefined ? '' : ': '}
        <VisibleText text={message} max={300} />
      </span>
    )}
  </>
)
