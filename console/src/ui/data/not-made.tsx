/** The requests of a message that were not made, and why. */
import { VisibleText } from '../text/visible-text.tsx'

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
