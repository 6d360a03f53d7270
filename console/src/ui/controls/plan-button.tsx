/** Buttons whose work leads to another page, or to a notice of why not; one makes a plan to replay messages. */

import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { asFailure } from '../../api/api-failure.ts'
import type { ReplayLookups } from '../../api/records/message-calls.ts'
import type { MessageFilters } from '../../api/records/record-types.ts'
import { planReplay } from '../../api/records/replay-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { notify } from '../states/notices.tsx'
import { Button, type ButtonProps } from './button.tsx'

/** `run` fails with an ApiFailure. */
export function TaskButton({ run, ...rest }: Omit<ButtonProps, 'onPress' | 'busy'> & { run(): Promise<unknown> }) {
  const onError = (thrown: unknown) => notify(asFailure(thrown).message, 'warn')
  const { mutate, isPending } = useMutation({ mutationFn: run, onError })
  return <Button {...rest} busy={isPending} onPress={() => mutate()} />
}

export type PlanButtonProps = Readonly<{
  children: string
  /** The messages of the plan, as the API takes them. */
  filters: MessageFilters
  /** What becomes of their lookups, in place of what is usual for each message. */
  lookups?: ReplayLookups
  tone?: 'plain' | 'primary'
}>

/** Nothing runs until somebody says so on the page of the plan. */
export function PlanButton({ filters, lookups, ...rest }: PlanButtonProps) {
  const navigate = useNavigate()
  const run = async () => {
    const { id } = await planReplay(filters, lookups)
    await navigate({ to: '/replays/$plan', params: { plan: id } })
  }
  return <TaskButton {...rest} refused={useRefusal('operator')} run={run} />
}
