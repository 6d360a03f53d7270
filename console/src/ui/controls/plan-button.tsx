/** Makes a plan to replay messages and goes to it. Nothing runs until somebody says so there. */

import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { asFailure } from '../../api/api-failure.ts'
import type { ReplayLookups } from '../../api/records/message-calls.ts'
import type { MessageFilters } from '../../api/records/record-types.ts'
import { planReplay } from '../../api/records/replay-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { notify } from '../states/notices.tsx'
import { Button } from './button.tsx'

export type PlanButtonProps = Readonly<{
  children: string
  /** The messages of the plan, as the API takes them. */
  filters: MessageFilters
  /** What becomes of their lookups, in place of what is usual for each message. */
  lookups?: ReplayLookups
  tone?: 'plain' | 'primary'
}>

export function PlanButton({ children, filters, lookups, tone = 'plain' }: PlanButtonProps) {
  const navigate = useNavigate()
  const refused = useRefusal('operator')
  const { mutate, isPending } = useMutation({
    mutationFn: () => planReplay(filters, lookups),
    onSuccess: ({ id }) => navigate({ to: '/replays/$plan', params: { plan: id } }),
    onError: (thrown) => notify(asFailure(thrown).message, 'warn'),
  })
  return (
    <Button tone={tone} refused={refused} busy={isPending} onPress={() => mutate()}>
      {children}
    </Button>
  )
}
