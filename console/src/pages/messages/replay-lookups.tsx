/** What becomes of the lookups of a replay, where these made the message: a run of a schedule, or pages that were read. */
import type { ReplayLookups } from '../../api/records/message-calls.ts'
import type { MessageRecord } from '../../api/records/record-types.ts'
import { SelectField } from '../../ui/controls/fields.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const CHOICES = [
  { value: 'recorded', label: 'Use the recorded answers' },
  { value: 'again', label: 'Ask again' },
] as const

const MEANINGS: Readonly<Record<ReplayLookups, string>> = {
  recorded: 'The message is the same as then, and no lookup is sent.',
  again: 'The other systems may answer something else than then, which makes another message.',
}

/** It can be replayed only if its lookups are asked again. */
export const lacksAnswers = ({ replayable: { reason = '' } }: MessageRecord): boolean => reason.startsWith('lookups-')

const hasAnswers = (message: MessageRecord): boolean =>
  message.bodies.some(({ which }) => which === 'lookups') && !lacksAnswers(message)

/** Undefined for a message that its lookups did not make. Out: what the service does by default. */
export function usualLookups(message: MessageRecord, isEdited: boolean): ReplayLookups | undefined {
  if (hasAnswers(message)) return isEdited ? 'again' : 'recorded'
  const isRun = message.source === 'schedule' && message.calls.some(({ kind }) => kind === 'lookup')
  return isRun || lacksAnswers(message) ? 'again' : undefined
}

export type LookupsChoiceProps = Readonly<{
  message: MessageRecord
  value: ReplayLookups
  onChange(lookups: ReplayLookups): void
}>

export function LookupsChoice({ message, value, onChange }: LookupsChoiceProps) {
  if (hasAnswers(message)) {
    return <SelectField label="Lookups" value={value} choices={CHOICES} hint={MEANINGS[value]} onChange={onChange} />
  }
  return (
    <p>
      <strong>Its lookups are asked again.</strong> {MEANINGS.again}{' '}
      <VisibleText text={message.replayable.why ?? 'They did not succeed then, so there are no answers to use.'} />
    </p>
  )
}
