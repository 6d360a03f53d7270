/** How far a plan got: a bar, and the same in numbers. */

import type { ReplayPlan } from '../../api/records/record-types.ts'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { StatusChip, type Tone } from '../../ui/data/status-chip.tsx'

const STATES: Readonly<Record<ReplayPlan['state'], readonly [Tone, string]>> = {
  planned: ['quiet', 'planned: nothing has run'],
  running: ['busy', 'running'],
  waiting: ['warn', 'waiting: look at the first messages'],
  paused: ['quiet', 'paused'],
  finished: ['good', 'finished'],
  cancelled: ['quiet', 'cancelled'],
}

export function PlanState({ plan: { state, failed } }: Readonly<{ plan: ReplayPlan }>) {
  const [tone, text] = STATES[state]
  return <StatusChip tone={state === 'finished' && failed > 0 ? 'warn' : tone}>{text}</StatusChip>
}

export function PlanProgress({ plan: { count, done, failed, skipped, left } }: Readonly<{ plan: ReplayPlan }>) {
  const parts = [
    ['done', done, 'var(--good)'],
    ['failed', failed, 'var(--bad)'],
    ['skipped', skipped, 'var(--edge)'],
  ] as const
  const widths = parts.map(([, value]) => (count === 0 ? 0 : (100 * value) / count))
  return (
    <div className="plan-progress">
      <svg width="100%" height="12" aria-hidden="true">
        <rect width="100%" height="12" rx="3" fill="var(--line)" />
        {parts.map(([name, , fill], index) => (
          <rect
            key={name}
            fill={fill}
            x={`${widths.slice(0, index).reduce((sum, width) => sum + width, 0)}%`}
            width={`${widths[index]}%`}
            height="12"
          />
        ))}
      </svg>
      <p role="status">
        {wholeNumber(done)} done, {wholeNumber(failed)} failed again{skipped > 0 && `, ${wholeNumber(skipped)} skipped`}
        , {wholeNumber(left)} left of {wholeNumber(count)}
      </p>
    </div>
  )
}
