/** A message as a command of curl, to be looked at before it is copied. */

import { useQuery } from '@tanstack/react-query'
import { listEndpoints } from '../../api/endpoint-calls.ts'
import { isRouted } from '../../api/endpoint-row.ts'
import { answerKey, keyed } from '../../api/query-keys.ts'
import { readMessageBody } from '../../api/records/message-calls.ts'
import type { MessageRecord } from '../../api/records/record-types.ts'
import { useMe } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { curlCommand, type RecordedRequest, toCurlRequest } from '../../ui/data/curl-command.ts'
import { TextViewer } from '../../ui/data/text-viewer.tsx'
import { QueryView } from '../../ui/states/states.tsx'

/** Nothing larger is written into a command; nothing larger is parsed in the page. */
const MAX_BODY_BYTES = 1_048_576

export type CurlDialogProps = Readonly<{ message: MessageRecord; endpointId: string; onClose(): void }>

export function CurlDialog({ message, endpointId, onClose }: CurlDialogProps) {
  const origin = useMe()?.messageOrigin ?? ''
  const query = useQuery({
    ...keyed(answerKey<string>('message', 'curl', message.id, origin), ({ signal }) =>
      createCurlCommand(message, endpointId, origin, signal),
    ),
    gcTime: 0,
  })
  return (
    <Dialog title="Copy as curl" size="large" onClose={onClose} actions={<Button text="Close" onPress={onClose} />}>
      <p>
        It sends the message to the route that its endpoint has now. Secret headers (authorization, cookies, keys) were
        never recorded: add those that the endpoint needs.
      </p>
      <QueryView query={query} what="Loading the message">
        {(command) => <TextViewer text={command} label="Command" fileName={`${message.id}-curl.sh`} />}
      </QueryView>
    </Dialog>
  )
}

async function createCurlCommand(
  { id, bodies }: MessageRecord,
  endpointId: string,
  origin: string,
  signal: AbortSignal,
): Promise<string> {
  const findSize = (which: string) => bodies.find((body) => body.which === which)?.size
  const size = findSize('incoming')
  if ((size ?? 0) > MAX_BODY_BYTES || (findSize('request') ?? 0) > MAX_BODY_BYTES) {
    throw new Error('The message is larger than 1 MiB: download its body, and send it with --data-binary @<file>.')
  }
  const [request, body, route] = await Promise.all([
    readMessageBody(id, 'request', signal),
    size === undefined ? undefined : readMessageBody(id, 'incoming', signal),
    readRoute(endpointId, origin, signal),
  ])
  const recorded = JSON.parse(new TextDecoder().decode(request)) as RecordedRequest
  return curlCommand(toCurlRequest(recorded, body && new Uint8Array(body), route))
}

async function readRoute(id: string, origin: string, signal: AbortSignal) {
  const [row] = (await listEndpoints({ q: id, limit: 1 }, signal)).endpoints
  if (row === undefined) throw new Error('Its endpoint was deleted, so there is nowhere to send the message to.')
  if (!isRouted(row)) throw new Error('Its endpoint has no route, so curl cannot send the message.')
  return { origin, method: row.method, pattern: row.pattern }
}
