/** The columns of the list of messages. */

import { Link } from '@tanstack/react-router'
import { SOURCE_WORDS } from '../../../../src/core/origin.ts'
import type { ListedMessage } from '../../api/records/record-types.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { LabelChip, OutcomeChip } from '../../ui/data/status-chip.tsx'
import { duration, Time } from '../../ui/data/time.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { withoutBody } from './messages-search.ts'

const MAX_KEY_CHARACTERS = 60
const MAX_ERROR_CHARACTERS = 160
const MAX_KEYS = 4

const time: Column<ListedMessage> = {
  title: 'Received',
  isName: true,
  render: ({ id, startedAt }) => (
    <Link
      from="/messages"
      to="/messages/$id"
      params={{ id }}
      search={withoutBody}
      resetScroll={false}
      data-row
      className="row-link"
    >
      <Time at={startedAt} exact />
      <span className="visually-hidden">, message {id}</span>
    </Link>
  ),
}

const endpoint: Column<ListedMessage> = {
  title: 'Endpoint',
  render: ({ endpoint: name, endpointId, source, replayOf }) => (
    <div>
      {name === undefined ? (
        <span className="quiet">{endpointId ?? 'no endpoint accepted it'}</span>
      ) : (
        <VisibleText text={name} max={120} />
      )}
      {source === 'http' ? null : (
        <span className="quiet"> {SOURCE_WORDS[replayOf === undefined ? source : 'replay'].shown}</span>
      )}
    </div>
  ),
}

const outcome: Column<ListedMessage> = {
  title: 'Outcome',
  render: (message) => (
    <span className="nowrap">
      <OutcomeChip outcome={message.outcome} /> <span className="quiet">{message.status}</span>
    </span>
  ),
}

const failure: Column<ListedMessage> = {
  title: 'Failure',
  render: ({ code, error, stage }) =>
    code === undefined ? (
      <span className="quiet">–</span>
    ) : (
      <span className="message-failure">
        <code>{code}</code>
        {stage === undefined ? null : <span className="quiet"> in {stage}</span>}
        {error === undefined ? null : (
          <span className="breaks">
            {' '}
            <VisibleText text={error} max={MAX_ERROR_CHARACTERS} />
          </span>
        )}
      </span>
    ),
}

const keys: Column<ListedMessage> = { title: 'Business keys', render: (message) => <Keys keys={message.keys} /> }

const took: Column<ListedMessage> = { title: 'Duration', align: 'end', render: ({ ms }) => duration(ms) }

export const MESSAGE_COLUMNS = [time, outcome, endpoint, failure, keys, took] as const

/** Beside the detail of a message, only the columns that identify a message fit. */
export const NARROW_MESSAGE_COLUMNS: readonly Column<ListedMessage>[] = [
  {
    ...time,
    render: (message) => (
      <>
        {time.render(message)}
        <div>{outcome.render(message)}</div>
      </>
    ),
  },
  {
    title: 'Message',
    render: (message) => (
      <>
        {endpoint.render(message)}
        {message.code === undefined ? (
          keyValues(message.keys).length > 0 && <Keys keys={message.keys} />
        ) : (
          <div>{failure.render(message)}</div>
        )}
      </>
    ),
  },
]

/** Each value of the business keys of a message. */
export const keyValues = (given: ListedMessage['keys']): readonly (readonly [name: string, value: string])[] =>
  Object.entries(given).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const))

function Keys({ keys: given }: Pick<ListedMessage, 'keys'>) {
  const all = keyValues(given)
  if (all.length === 0) return <span className="quiet">–</span>
  return (
    <span className="row">
      {all.slice(0, MAX_KEYS).map(([name, value]) => (
        <LabelChip key={`${name} ${value}`} name={name} value={value.slice(0, MAX_KEY_CHARACTERS)} separator=":" />
      ))}
      {all.length > MAX_KEYS && <span className="quiet">+{all.length - MAX_KEYS}</span>}
    </span>
  )
}
