/** The bodies of a message: one is open at a time, and only that one is read from the service. */

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { BodySummary, MessageRecord } from '../../api/records/record-types.ts'
import { useRefusal } from '../../api/session.ts'
import { useVocabulary } from '../../api/vocabulary.ts'
import { Button } from '../../ui/controls/button.tsx'
import { downloadText } from '../../ui/data/clipboard.ts'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { TextViewer } from '../../ui/data/text-viewer.tsx'
import { byteCount } from '../../ui/data/time.tsx'
import { QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { bodyFileName, bodyTitle, decodeBodyText } from './body-text.ts'

export type MessageBodiesProps = Readonly<{
  message: MessageRecord
  /** The name of the body that is open. */
  open: string | undefined
  onOpen(which: string | undefined): void
}>

export function MessageBodies({ message: { id, bodies }, open, onOpen }: MessageBodiesProps) {
  const refused = useRefusal('operator')
  if (bodies.length === 0) {
    return <p className="quiet">No body was recorded: MESSAGE_LOG, or messageLog of the endpoint, says whose are.</p>
  }
  return (
    <ul className="stack">
      {bodies.map((body) => (
        <li key={body.which}>
          <div className="row">
            <Button
              tone="quiet"
              refused={refused}
              expanded={open === body.which}
              onPress={() => onOpen(open === body.which ? undefined : body.which)}
            >
              <span aria-hidden="true">{open === body.which ? '▾' : '▸'}</span>
              <VisibleText text={bodyTitle(body.which)} max={100} />
            </Button>
            <span className="quiet">
              {byteCount(body.size)} <VisibleText text={body.contentType} max={60} />
            </span>
            <BodyMarks body={body} />
          </div>
          {open === body.which && refused === undefined && <MessageBody id={id} body={body} />}
        </li>
      ))}
    </ul>
  )
}

function BodyMarks({ body: { cut, masked } }: Readonly<{ body: BodySummary }>) {
  return (
    <>
      {cut && <StatusChip tone="warn">only its start was recorded</StatusChip>}
      {masked && <StatusChip tone="warn">parts are redacted</StatusChip>}
    </>
  )
}

/** A recorded body never changes, and may be large: it is read once, and forgotten when it is closed. */
export const useMessageBody = (id: string, which: string, isOn = true) =>
  useQuery({
    ...queries.messageBody(id, which),
    enabled: isOn,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
  })

function MessageBody({ id, body }: Readonly<{ id: string; body: BodySummary }>) {
  const query = useMessageBody(id, body.which)
  return (
    <QueryView query={query} what="Loading the body">
      {(bytes) => <BodyText id={id} body={body} bytes={bytes} />}
    </QueryView>
  )
}

const NO_TYPES: NonNullable<Schemas['Vocabulary']['contentTypes']> = []

function BodyText({ id, body, bytes }: Readonly<{ id: string; body: BodySummary; bytes: ArrayBuffer }>) {
  const text = useMemo(() => decodeBodyText(bytes, body.contentType), [bytes, body.contentType])
  const content = useMemo(() => new Blob([bytes]), [bytes])
  const { data: known = NO_TYPES } = useVocabulary(({ contentTypes }) => contentTypes)
  const fileName = bodyFileName(id, body, known)
  if (text === undefined) {
    return (
      <div className="more-rows row">
        <p>The body is not text.</p>
        <Button onPress={() => downloadText(content, fileName)}>Download {byteCount(bytes.byteLength)}</Button>
      </div>
    )
  }
  return (
    <TextViewer
      text={text}
      label={bodyTitle(body.which)}
      fileName={fileName}
      bytes={bytes.byteLength}
      content={content}
      {...(body.which === 'incoming' && { root: 'requestBody' })}
    />
  )
}
