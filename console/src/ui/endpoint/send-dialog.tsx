/** Sending a message to an endpoint for real, and what it answers. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, readData, type Schemas } from '../../api/client.ts'
import type { RoutedRow } from '../../api/endpoint-row.ts'
import { isRecord, readGiven } from '../../api/given-parts.ts'
import { queries } from '../../api/queries.ts'
import { useVocabulary } from '../../api/vocabulary.ts'
import { ConfirmDialog, Dialog } from '../controls/dialog.tsx'
import { TextField } from '../controls/fields.tsx'
import { MessageLink, OutcomeChip } from '../data/status-chip.tsx'
import { TextViewer } from '../data/text-viewer.tsx'
import { duration } from '../data/time.tsx'
import { QueryView } from '../states/states.tsx'
import { VisibleText } from '../text/visible-text.tsx'

export type SendDialogProps = Readonly<{ row: RoutedRow; onClose(): void }>
type Message = Readonly<Record<string, unknown>>

/** Starts with the message of the first test, or else with the sample of the input format. */
export function SendDialog({ row, onClose }: SendDialogProps) {
  const message = useQuery({
    ...queries.endpointTests(row.id),
    select: ({ file }) => (file.tests[0] === undefined ? {} : readGiven(file.tests[0]).message),
  })
  const sample = useVocabulary(({ formats }) => formats.find(({ name }) => name === row.input)?.sample ?? '')
  const isKnown = message.data !== undefined && sample.data !== undefined
  if (isKnown) return <SendForm row={row} message={message.data} sample={sample.data} onClose={onClose} />
  return (
    <Dialog title="Send a message" onClose={onClose}>
      <QueryView query={message} what="Loading the tests of the endpoint">
        {() => null}
      </QueryView>
    </Dialog>
  )
}

function SendForm({ row, message, sample, onClose }: SendDialogProps & Readonly<{ message: Message; sample: string }>) {
  const { body: given = sample, urlParams, query: givenQuery } = message
  const [body, setBody] = useState(typeof given === 'string' ? given : JSON.stringify(given, null, 2))
  const isJson = typeof given !== 'string'
  const [type, setType] = useState(String(message.contentType ?? (isJson ? 'application/json' : '')))
  const [query, setQuery] = useState(new URLSearchParams(texts(givenQuery)).toString())
  const [params, setParams] = useState<Readonly<Record<string, string>>>(texts(urlParams))
  const [answer, setAnswer] = useState<Schemas['SentAnswer']>()
  const names = Array.from(row.pattern.matchAll(/\/[:*]([\w-]+)/g), ([, name = '']) => name)
  const send = async () => {
    const parts = {
      ...(row.input !== undefined && { body, ...(type.trim() !== '' && { contentType: type.trim() }) }),
      ...(isRecord(message.headers) && { headers: texts(message.headers) }),
      query: readQuery(query),
      urlParams: Object.fromEntries(names.map((name) => [name, params[name] ?? ''])),
    }
    setAnswer(await readData(api.POST('/endpoints/{id}/messages', { params: { path: { id: row.id } }, body: parts })))
    return false
  }
  return (
    <ConfirmDialog
      title="Send a message"
      size="large"
      confirm="Send"
      isDismissable={false}
      result={answer && <SentAnswer answer={answer} />}
      onConfirm={send}
      onClose={onClose}
    >
      <p>It is a real message: what the endpoint sends on is sent. Credentials of callers are not needed.</p>
      {names.map((name) => (
        <TextField
          key={name}
          label={`${name} in the path`}
          value={params[name] ?? ''}
          onChange={(value) => setParams({ ...params, [name]: value })}
        />
      ))}
      <TextField label="Query" value={query} placeholder="from=lab&days=7" onChange={setQuery} />
      {row.input !== undefined && (
        <>
          <TextField label="Content type" value={type} placeholder={`That of ${row.input}`} onChange={setType} />
          <TextField label="Body" value={body} rows={12} onChange={setBody} />
        </>
      )}
    </ConfirmDialog>
  )
}

function SentAnswer({
  answer: { messageId, outcome, status, ms, error, answer },
}: Readonly<{ answer: Schemas['SentAnswer'] }>) {
  return (
    <div className="stack" role="status">
      <p>
        <OutcomeChip outcome={outcome} /> The endpoint answered {status} after {duration(ms)}.{' '}
        <MessageLink id={messageId}>The message</MessageLink>
      </p>
      {error !== undefined && <VisibleText as="p" text={error} />}
      <TextViewer
        text={typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2)}
        label="Answer"
        fileName="answer.txt"
      />
    </div>
  )
}

const texts = (values: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(isRecord(values) ? values : {}).map(([name, value]) => [name, String(value)]))

/** A name that occurs several times has a list of values. */
function readQuery(text: string): Record<string, string | readonly string[]> {
  const given = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(given.keys())].map((name) => {
      const all = given.getAll(name)
      return [name, all.length === 1 ? (all[0] as string) : all]
    }),
  )
}
