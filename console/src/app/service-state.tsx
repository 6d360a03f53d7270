/** How the service is: a lamp in the frame, and a bar above the page while something is wrong. */

import type { Schemas } from '../api/client.ts'
import { connection } from '../api/connection.ts'
import { useHealth } from '../api/health.ts'
import { reload } from '../api/query-keys.ts'
import { useStore } from '../api/store.ts'
import { useStreamState } from '../live/live-updates.tsx'
import { Button } from '../ui/controls/button.tsx'
import { StatusChip } from '../ui/data/status-chip.tsx'
import { exactTime } from '../ui/data/time.tsx'

type Health = Schemas['Health']

export function ServiceLamp() {
  const { data } = useHealth()
  const isAway = useStore(connection).state === 'away'
  const stream = useStreamState()
  if (isAway) return <StatusChip tone="bad">No answer</StatusChip>
  if (data === undefined) return <StatusChip tone="busy">Connecting</StatusChip>
  const [tone, text] = readiness(data)
  return (
    <span className="row">
      <StatusChip tone={tone}>{text}</StatusChip>
      <span className="quiet wide-only">
        {stream === 'live' ? `${data.version} · live` : `${data.version} · ${STREAM_WORDS[stream]}`}
      </span>
    </span>
  )
}

const STREAM_WORDS = { live: 'live', connecting: 'connecting', polling: 'checks every 30 s', paused: 'paused' } as const

function readiness({ status, stopping, store }: Health): readonly ['good' | 'bad', string] {
  if (status === 'ready') return ['good', 'Ready']
  if (stopping) return ['bad', 'Stopping']
  return ['bad', store === 'unavailable' ? 'Not ready: store unavailable' : 'Not ready']
}

/** While the service does not answer: since when, and that what is shown is old. */
export function ServiceBar() {
  const now = useStore(connection)
  if (now.state === 'answers') return <div role="alert" />
  return (
    <div className="service-bar between" role="alert">
      <p>
        The service has not answered since {exactTime(now.since)}. What you see may be old; nothing that you typed is
        lost.
      </p>
      <Button text="Try now" onPress={() => void reload()} />
    </div>
  )
}
