/** When a schedule is due, how its last run ended, and which of its times were skipped. */

import type { Schedule } from '../../api/endpoint-calls.ts'
import { TextLink } from '../controls/text-link.tsx'
import { OutcomeChip, StatusChip } from '../data/status-chip.tsx'
import { Time } from '../data/time.tsx'

export function ScheduleFacts({ schedule }: Readonly<{ schedule: Schedule }>) {
  const { next, running, last, overruns, missed } = schedule
  return (
    <span className="schedule-facts row">
      <span>{next === undefined ? 'No further run' : <>Next run: {<Time at={next} exact />}</>}</span>
      {running !== undefined && (
        <StatusChip tone="busy">
          running since <Time at={running.startedAt} exact />
        </StatusChip>
      )}
      {last !== undefined && (
        <span>
          Last run:{' '}
          {last.messageId === undefined ? (
            <Time at={last.startedAt} />
          ) : (
            <TextLink to="/messages/$id" params={{ id: last.messageId }} text={<Time at={last.startedAt} />} />
          )}{' '}
          <OutcomeChip outcome={last.outcome} />
        </span>
      )}
      {overruns > 0 && <span>{times(overruns)} skipped, as a run took longer</span>}
      {missed > 0 && <span>{times(missed)} missed, as no instance ran</span>}
    </span>
  )
}

const times = (count: number): string => (count === 1 ? '1 time' : `${count.toLocaleString('en')} times`)
