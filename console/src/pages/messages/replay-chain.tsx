/** A message and its replays: which one was first, how each attempt ended, and which one is shown. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { queries } from '../../api/queries.ts'
import type { MessageRecord } from '../../api/records/record-types.ts'
import { OutcomeChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { withoutBody } from './messages-search.ts'

const MAX_REPLAYS = 50

/** What a link of the chain needs; the first message may have no record any more. */
type ChainLink = Readonly<{ id: string; startedAt?: string; outcome?: string; code?: string }>

export function ReplayChain({ message }: Readonly<{ message: MessageRecord }>) {
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
