/** Running a plan, with its limits; pausing, continuing and cancelling it. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { queries } from '../../api/queries.ts'
import { queryParts } from '../../api/query-keys.ts'
import type { ReplayPlan } from '../../api/records/record-types.ts'
import { changePlan, type PlanAction, runPlan } from '../../api/records/replay-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton } from '../../ui/controls/dialog.tsx'
import { Checkbox, TextField } from '../../ui/controls/fields.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { checkLimits, DEFAULT_LIMITS, toRunLimits } from './run-limits.ts'

/** In: `run` or a change. What it gives is the plan as it is then. */
function useChange(plan: ReplayPlan) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (act: () => Promise<ReplayPlan>) => act(),
    onSuccess: (after) => client.setQueryData(queries.replay(plan.id).queryKey, after),
    onSettled: () => client.invalidateQueries({ queryKey: queryParts.replays }),
  })
}

export function PlanControls({ plan }: Readonly<{ plan: ReplayPlan }>) {
  const refused = useRefusal('operator')
  const { mutate, mutateAsync, isPending, error } = useChange(plan)
  const { id, state, left, cannot } = plan
  if (state === 'finished' || state === 'cancelled') return <PlanEnd plan={plan} />
  const act = (action: PlanAction) => mutate(() => changePlan(id, action))
  const isRunnable = state === 'planned' || state === 'paused'
  return (
    <section className="panel" aria-label="Run">
      {isRunnable && left > 0 && <RunForm plan={plan} refused={refused} busy={isPending} onRun={mutate} />}
      {state === 'planned' && left === 0 && (
        <p>
          {cannot.length > 0
            ? 'No message of this plan can run: the reasons are below.'
            : 'The filter of this plan finds no message.'}
        </p>
      )}
      <div className="row">
        {state === 'waiting' && (
          <Button tone="primary" refused={refused} busy={isPending} onPress={() => act('continue')}>
            Run the rest ({left.toLocaleString('en')})
          </Button>
        )}
        {(state === 'running' || state === 'waiting') && (
          <Button text="Pause" refused={refused} busy={isPending} onPress={() => act('pause')} />
        )}
        <ConfirmButton
          text="Cancel the plan …"
          title="Cancel the plan"
          confirm="Cancel the plan"
          tone="danger"
          refused={refused}
          onConfirm={async () => void (await mutateAsync(() => changePlan(id, 'cancel')))}
        >
          Messages in flight are completed, and no further one starts. The plan cannot be run again; messages that are
          left stay as they are, and a new plan can take them.
        </ConfirmButton>
      </div>
      <FailureNotice failure={error} />
    </section>
  )
}

/** Where to continue from a plan that is over. */
function PlanEnd({ plan: { failed } }: Readonly<{ plan: ReplayPlan }>) {
  return (
    <div className="row">
      {failed > 0 && (
        <Link className="button primary" to="/groups" search={{ source: ['replay'] }}>
          Failed replays by cause
        </Link>
      )}
      <Link className="button" to="/groups">
        Failures that are left
      </Link>
    </div>
  )
}

type RunFormProps = Readonly<{
  plan: ReplayPlan
  refused: string | undefined
  busy: boolean
  onRun(act: () => Promise<ReplayPlan>): void
}>

const LIMITS = [
  { name: 'max', label: 'At most', hint: 'messages; empty for all' },
  { name: 'concurrency', label: 'At once', hint: '1 keeps their order' },
  { name: 'perSecond', label: 'Per second', hint: 'empty for no limit' },
] as const

function RunForm({ plan: { id, left, state }, refused, busy, onRun }: RunFormProps) {
  const [form, setForm] = useState(DEFAULT_LIMITS)
  const faults = checkLimits(form)
  const isFaulty = Object.keys(faults).length > 0
  const set = (changes: Partial<typeof form>) => setForm({ ...form, ...changes })
  const run = () => {
    if (!isFaulty && refused === undefined) onRun(() => runPlan(id, toRunLimits(form)))
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <Checkbox checked={form.first} onChange={(first) => set({ first })}>
        One first, then the rest: the plan waits after the first message until you continue
      </Checkbox>
      <div className="columns">
        {LIMITS.map(({ name, label, hint }) => (
          <TextField
            key={name}
            label={label}
            hint={hint}
            value={form[name]}
            onChange={(value) => set({ [name]: value })}
            fault={faults[name]}
          />
        ))}
      </div>
      <div className="row">
        <Button
          type="submit"
          tone="primary"
          busy={busy}
          refused={refused ?? (isFaulty ? 'A limit cannot have this value.' : undefined)}
        >
          {form.first ? 'Run one first' : `${state === 'paused' ? 'Run on' : 'Run'} (${left.toLocaleString('en')})`}
        </Button>
      </div>
    </form>
  )
}
