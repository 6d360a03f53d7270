/** `/messages/:id`: one message, beside the list: what happened, where the time went, and what can be done about it. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'
import { SOURCE_WORDS } from '../../../../src/core/origin.ts'
import { queries } from '../../api/queries.ts'
import type { MessageRecord } from '../../api/records/record-types.ts'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { Fact, Facts } from '../../ui/data/facts.tsx'
import { EndpointLink, LabelChip, OutcomeChip } from '../../ui/data/status-chip.tsx'
import { duration, Time } from '../../ui/data/time.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { Answer } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { MessageActions } from './message-actions.tsx'
import { MessageBodies } from './message-bodies.tsx'
import { keyValues } from './message-columns.tsx'
import { withoutBody } from './messages-search.ts'
import { lacksAnswers } from './replay-lookups.tsx'
import { Waterfall } from './waterfall.tsx'

const route = getRouteApi('/messages/$id')

export default function MessageDetail() {
  const { id } = route.useParams()
  const navigate = route.useNavigate()
  const heading = useFocusOnChange(id)
  const close = () => {
    void navigate({ to: '/messages', search: withoutBody, resetScroll: false }).then(() => focusRow(id))
  }
  useKey('Escape', 'Close the message', close)
  return (
    <section className="message-detail panel" aria-label={`Message ${id}`}>
      <div className="between">
        <h2 ref={heading} tabIndex={-1}>
          Message <code>{id}</code>
        </h2>
        <Link from="/messages/$id" to="/messages" search={withoutBody} resetScroll={false} className="button quiet">
          Close <kbd className="wide-only">Esc</kbd>
        </Link>
      </div>
      <Answer of={queries.message(id)} what="Loading the message">
        {(message) => <Message key={id} message={message} />}
      </Answer>
    </section>
  )
}

/** A message that was opened from the list takes the focus, so that readers of the screen hear it. */
function useFocusOnChange(id: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(document.querySelector('[data-row]') === null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each message takes the focus anew
  useLayoutEffect(() => {
    if (!isFirst.current) heading.current?.focus({ preventScroll: true })
    isFirst.current = false
    heading.current?.scrollIntoView({ block: 'nearest' })
  }, [id])
  return heading
}

const focusRow = (id: string): void =>
  document.querySelector<HTMLElement>(`[data-row][href*="/messages/${CSS.escape(id)}"]`)?.focus()

function Message({ message }: Readonly<{ message: MessageRecord }>) {
  const { body } = route.useSearch()
  const navigate = route.useNavigate()
  const openBody = (which: string | undefined) =>
    void navigate({
      to: '.',
      search: (before) => (which === undefined ? withoutBody(before) : { ...before, body: which }),
      replace: true,
      resetScroll: false,
    })
  return (
    <>
      <MessageActions message={message} />
      <MessageFacts message={message} />
      <Failure message={message} />
      <h3>Where the time went</h3>
      <Waterfall message={message} />
      <h3>Bodies</h3>
      <MessageBodies message={message} open={body} onOpen={openBody} />
      <h3>Replays</h3>
      <Replayable message={message} />
      <ReplayChain message={message} />
    </>
  )
}

function MessageFacts({ message }: Readonly<{ message: MessageRecord }>) {
  const { outcome, status, ms, startedAt, source, endpoint, endpointId, endpointVersion, answerOf, keys, captured } =
    message
  const { tables = {}, missed = [] } = message
  const values = keyValues(keys)
  return (
    <Facts>
      <Fact name="Outcome">
        <OutcomeChip outcome={outcome} /> {status} in {duration(ms)}
      </Fact>
      <Fact name="Received">
        <Time at={startedAt} exact />{' '}
        <span className="quiet">
          {SOURCE_WORDS[source].arrival}
          {captured === true && ', recorded by a capture'}
        </span>
      </Fact>
      <Fact name="Endpoint">
        {endpointId === undefined ? (
          <span className="quiet">No endpoint accepted it.</span>
        ) : (
          <>
            <EndpointLink id={endpointId} name={endpoint} />
            {endpointVersion === undefined ? null : (
              <>
                {' '}
                <Link to="/endpoints/$id/versions" params={{ id: endpointId }} search={{ from: endpointVersion }}>
                  version {endpointVersion}
                </Link>{' '}
                <span className="quiet">ran</span>
              </>
            )}
          </>
        )}
      </Fact>
      {answerOf !== undefined && (
        <Fact name="Idempotency">
          It was answered with the stored response of{' '}
          <Link from="/messages" to="/messages/$id" params={{ id: answerOf }} search={withoutBody}>
            an earlier message
          </Link>
          .
        </Fact>
      )}
      {Object.keys(tables).length > 0 && (
        <Fact name="Tables" isList>
          {Object.entries(tables).map(([name, version]) => (
            <Link key={name} to="/tables/$name/versions" params={{ name }} search={{ to: version }}>
              {name} version {version}
            </Link>
          ))}
        </Fact>
      )}
      {missed.length > 0 && (
        <Fact name="Missed codes" isList>
          {missed.map(({ table, column, code }) => (
            <Link key={[table, column, code].join(' ')} to="/unmapped" search={{ table }}>
              <LabelChip name={`${table} · ${column}`} value={code} separator=":" />
            </Link>
          ))}
        </Fact>
      )}
      {values.length > 0 && (
        <Fact name="Business keys" isList>
          {values.map(([name, value]) => (
            <Link key={`${name} ${value}`} to="/messages" search={{ key: [`${name}:${value}`] }}>
              <LabelChip name={name} value={value} separator=":" />
            </Link>
          ))}
        </Fact>
      )}
    </Facts>
  )
}

/** The failure at its place: the sentence of the service, and the place in the document as a link. */
function Failure({
  message: { id, code, error, stage, path, endpointId, group },
}: Readonly<{ message: MessageRecord }>) {
  if (code === undefined) return null
  return (
    <div className="failure">
      <p className="failure-sentence">
        <VisibleText text={error ?? 'The message failed.'} />
        <code className="failure-code">{code}</code>
      </p>
      <p>
        {stage !== undefined && `At the stage ${stage}`}
        {path !== undefined && endpointId !== undefined && (
          <>
            {stage === undefined ? 'At ' : ', at '}
            <Link to="/endpoints/$id/edit" params={{ id: endpointId }} search={{ message: id, path }}>
              <VisibleText code text={path} max={200} />
            </Link>
          </>
        )}
        {(stage ?? path) !== undefined && '. '}
        {group !== undefined && <TextLink to="/groups/$key" params={{ key: group }} text="Failures that are alike" />}
      </p>
    </div>
  )
}

/** What cannot be replayed, and why, in the words of the service. */
function Replayable({ message }: Readonly<{ message: MessageRecord }>) {
  const { can, why, withBody, alreadyDoneBy } = message.replayable
  return (
    <>
      {can || why === undefined ? null : (
        <p>
          {lacksAnswers(message) ? 'A replay of it must ask its lookups again.' : 'It cannot be replayed as it came.'}{' '}
          <VisibleText text={why} />
          {withBody && !lacksAnswers(message) && ' It can be replayed with another body.'}
        </p>
      )}
      {alreadyDoneBy !== undefined && (
        <p>
          <Link from="/messages" to="/messages/$id" params={{ id: alreadyDoneBy }} search={withoutBody}>
            A replay of it
          </Link>{' '}
          ended done.
        </p>
      )}
    </>
  )
}

const MAX_REPLAYS = 50

/** What a link of the chain needs; the first message may have no record any more. */
type ChainLink = Readonly<{ id: string; startedAt?: string; outcome?: string; code?: string }>

function ReplayChain({ message }: Readonly<{ message: MessageRecord }>) {
  const { id, replayOf } = message
  const first = replayOf ?? id
  const replays = useQuery(queries.messages({ replayOf: first }, MAX_REPLAYS))
  const original = useQuery({
    ...queries.message(first),
    enabled: replayOf !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const found = replays.data?.messages.toReversed() ?? []
  if (replayOf === undefined && found.length === 0) return <p className="quiet">It has not been replayed.</p>
  const head: ChainLink = replayOf === undefined ? message : (original.data ?? { id: first })
  return (
    <ol className="replay-chain stack">
      <ChainItem link={head} name="Received" isCurrent={head.id === id} />
      {found.map((link, index) => (
        <ChainItem key={link.id} link={link} name={`Replay ${index + 1}`} isCurrent={link.id === id} />
      ))}
      {replays.data?.next !== undefined && <li className="quiet">The newest {MAX_REPLAYS} replays are shown.</li>}
    </ol>
  )
}

type ChainItemProps = Readonly<{ link: ChainLink; name: string; isCurrent: boolean }>

function ChainItem({ link: { id, startedAt, outcome, code }, name, isCurrent }: ChainItemProps) {
  return (
    <li aria-current={isCurrent || undefined}>
      {isCurrent ? (
        <strong>{name}</strong>
      ) : (
        <Link from="/messages" to="/messages/$id" params={{ id }} search={withoutBody} resetScroll={false}>
          {name}
        </Link>
      )}{' '}
      {outcome !== undefined && <OutcomeChip outcome={outcome} />} {code === undefined ? null : <code>{code}</code>}{' '}
      <Time at={startedAt} exact />
    </li>
  )
}
