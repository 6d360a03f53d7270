/** What the list and the page of one delivery share. */
import type { DeliveryDetail, DeliveryState } from '../../api/records/delivery-calls.ts'
import { StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

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
