/** A message that is typed, where none is loaded; a stored test can give the first text. */

import { useQuery } from '@tanstack/react-query'
import { queries } from '../../../api/queries.ts'
import { NEW } from '../../../draft/draft.ts'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import type { Vocabulary } from '../assist/document-words.ts'
import { objectFault, type TypedMessage, typedFrom } from '../run/run-request.ts'

export type MessageFormProps = Readonly<{
  id: string
  message: TypedMessage
  vocabulary: Vocabulary | undefined
  /** The input format of the document. */
  format: string | undefined
  hasSchedule: boolean
  onChange(message: TypedMessage): void
}>

export function MessageForm({ id, message, vocabulary, format, hasSchedule, onChange }: MessageFormProps) {
  const { data } = useQuery({
    ...queries.endpointTests(id),
    enabled: id !== NEW,
  })
  const tests = data?.file.tests ?? []
  const types = (vocabulary?.contentTypes ?? []).flatMap((one) => one.types)
  const known =
    message.contentType === '' || types.includes(message.contentType) ? types : [message.contentType, ...types]
  // Its messages have no body.
  const isBodiless = hasSchedule && format === undefined
  return (
    <div className="message-form">
      <div className="field-row">
        {hasSchedule && (
          <TextField
            label="Due"
            value={message.scheduledFor}
            placeholder="2026-01-01T02:30:00Z"
            hint={
              isBodiless
                ? 'When the run was due; now, if it is empty.'
                : 'For a run of the schedule, which has no body.'
            }
            onChange={(scheduledFor) => onChange({ ...message, scheduledFor })}
          />
        )}
        {!isBodiless && (
          <SelectField
            label="Content type"
            value={message.contentType}
            choices={[{ value: '', label: 'Same as the endpoint' }, ...known.map((value) => ({ value, label: value }))]}
            onChange={(contentType) => onChange({ ...message, contentType })}
          />
        )}
        {tests.length > 0 && (
          <SelectField
            label="Start from the message of"
            value=""
            choices={[
              { value: '', label: 'a test …' },
              ...tests.map(({ name }, index) => ({ value: String(index), label: name })),
            ]}
            onChange={(at) => {
              const test = tests[Number(at)]
              if (at !== '' && test !== undefined) onChange(typedFrom(test))
            }}
          />
        )}
      </div>
      {!isBodiless && (
        <TextField
          label="Body"
          rows={8}
          value={message.body}
          placeholder={vocabulary?.formats.find(({ name }) => name === format)?.sample ?? ''}
          onChange={(body) => onChange({ ...message, body })}
        />
      )}
      <details>
        <summary>Headers, query, parameters of the path</summary>
        {(['headers', 'query', 'urlParams'] as const).map((name) => (
          <TextField
            key={name}
            label={LABELS[name]}
            hint="A JSON object"
            rows={3}
            value={message[name]}
            fault={objectFault(message[name])}
            onChange={(text) => onChange({ ...message, [name]: text })}
          />
        ))}
      </details>
    </div>
  )
}

const LABELS = { headers: 'Headers', query: 'Query', urlParams: 'Parameters of the path' } as const
