/** How many messages of the last hour failed at a node: by sign, word and colour, with the way to them. */
import { Link } from '@tanstack/react-router'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'

type FailureLinkProps = Readonly<{
  count: number
  of: Readonly<{ group?: string | undefined; endpoint?: readonly string[]; stage?: readonly string[] | undefined }>
}>

export const FailureLink = ({ count, of: { group, endpoint, stage } }: FailureLinkProps) => (
  <Link
    to="/messages"
    search={{
      group,
      endpoint,
      stage,
      ...(group === undefined && { outcome: ['partial', 'refused', 'failed'] }),
      from: '-1h',
    }}
  >
    <StatusChip tone="bad">{wholeNumber(count)} failed</StatusChip>
  </Link>
)
