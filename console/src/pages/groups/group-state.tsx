/** What people say of a group of failures, and saying it. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { queryParts } from '../../api/query-keys.ts'
import type { FailureGroup, GroupState } from '../../api/records/record-types.ts'
import { markGroup } from '../../api/records/replay-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { ConfirmDialog, DialogButton } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const TONES: Readonly<Record<GroupState, Tone>> = { open: 'bad', acknowledged: 'busy', ignored: 'quiet' }
const MAX_NOTE_CHARACTERS = 2_000

export function GroupMark({ group: { state, note, by, at, since } }: Readonly<{ group: FailureGroup }>) {
  return (
    <div className="row">
      <StatusChip tone={TONES[state]}>{state}</StatusChip>
      {by !== undefined && (
        <span className="quiet">
          by <VisibleText text={by} max={100} /> <Time at={at} />
        </span>
      )}
      {since !== undefined && since > 0 && <StatusChip tone="warn">{since.toLocaleString('en')} since then</StatusChip>}
      {note !== undefined && (
        <p className="breaks">
          <VisibleText text={note} />
        </p>
      )}
    </div>
  )
}

const ACTIONS = [
  {
    state: 'acknowledged',
    text: 'Acknowledge …',
    title: 'Acknowledge the group',
    confirm: 'Acknowledge',
    means: 'You, or somebody whom the note names, works on it. Everybody sees that.',
  },
  {
    state: 'ignored',
    text: 'Ignore …',
    title: 'Ignore the group',
    confirm: 'Ignore',
    means: 'No work is needed. The group keeps this state when more messages join it, and counts them.',
  },
  {
    state: 'open',
    text: 'Open again …',
    title: 'Open the group again',
    confirm: 'Open again',
    means: 'No one works on it.',
  },
] as const

/** The states that the group does not have. */
export function GroupActions({ group }: Readonly<{ group: FailureGroup }>) {
  const refused = useRefusal('operator')
  return ACTIONS.filter(({ state }) => state !== group.state).map(({ text, ...action }) => (
    <DialogButton
      key={action.state}
      text={text}
      refused={refused}
      dialog={(close) => <MarkDialog group={group} {...action} onClose={close} />}
    />
  ))
}

type MarkDialogProps = Omit<(typeof ACTIONS)[number], 'text'> & Readonly<{ group: FailureGroup; onClose(): void }>

function MarkDialog({ group, state, means, ...frame }: MarkDialogProps) {
  const client = useQueryClient()
  const [note, setNote] = useState(group.note ?? '')
  const mark = async () => {
    await markGroup(group.key, state, note.trim())
    await client.invalidateQueries({ queryKey: queryParts.groups })
  }
  return (
    <ConfirmDialog {...frame} onConfirm={mark}>
      <p>{means}</p>
      <TextField
        label="Note"
        value={note}
        onChange={setNote}
        rows={3}
        hint="For example what is done, and the number of the ticket."
        fault={note.length > MAX_NOTE_CHARACTERS ? `At most ${MAX_NOTE_CHARACTERS} characters.` : undefined}
      />
    </ConfirmDialog>
  )
}
