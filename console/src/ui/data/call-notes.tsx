/** Where the answer of a call came from, and its token. */
import { VisibleText } from '../text/visible-text.tsx'

type CallOrigin = Readonly<{
  cached?: boolean
  stale?: string | number
  token?: Readonly<{ from: string; how: string }>
}>

export function CallNotes({ call: { cached, stale, token } }: Readonly<{ call: CallOrigin }>) {
  return (
    <>
      {cached && (
        <div>{stale === undefined ? 'From the cache.' : `From the cache, as the target failed: ${stale}.`}</div>
      )}
      {token === undefined ? null : (
        <div>
          Token of <VisibleText text={token.from} max={300} />: {token.how}
        </div>
      )}
    </>
  )
}

type NotMadeRequest = Readonly<{ kind: string; id: string; item?: number; why: 'when' | 'failure' | 'delivered' }>

const CAUSES: Readonly<Record<NotMadeRequest['why'], string>> = {
  when: '“when” did not give true',
  failure: 'another lookup had failed',
  delivered: 'an earlier run of this message delivered it',
}

export function NotMade({ requests = [] }: Readonly<{ requests?: readonly NotMadeRequest[] | undefined }>) {
  if (requests.length === 0) return null
  return (
    <ul className="failure-details quiet" aria-label="Requests that were not made">
      {requests.map(({ kind, id, item, why }) => (
        <li key={`${kind} ${id} ${item}`}>
          {kind} <VisibleText text={id} max={80} />
          {item !== undefined && ` (item ${item})`} was not made: {CAUSES[why]}.
        </li>
      ))}
    </ul>
  )
}
