/** `/messages` on the admin port: recorded messages. Bodies may hold confidential data about people. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { BodySummary, RecordedBody } from '../../../domain/records/message-record.ts'
import { parseMediaType } from '../../../formats/media-type.ts'
import { groupOf } from '../../../message-log/groups/group-key.ts'
import type { MessageRecords } from '../../../replay/message-records.ts'
import { needs } from '../management/auth-hook.ts'
import { type ById, NO_STORE, queryOf, refuseBelow, refuseOtherMethods, sendAnswer, sendJson } from '../replies.ts'
import { serveFailureGroups } from './failure-group-routes.ts'
import { serveReplay } from './replay-routes.ts'

type ByBody = { Params: { id: string; which: string } }

export function serveMessageRecords(server: FastifyInstance, routes: MessageRecords): void {
  const { search, groups, replayable } = routes
  server.get('/messages', needs('viewer'), async (request, reply) =>
    sendJson(reply, 200, await search.list(queryOf(request)), NO_STORE),
  )
  server.get<ById>('/messages/:id', needs('viewer'), async (request, reply) => {
    const record = await search.get(request.params.id)
    const group = groupOf(record)
    const shown = { ...record, ...(group !== undefined && { group }), replayable: await replayable(record) }
    return sendJson(reply, 200, shown, NO_STORE)
  })
  server.get<ByBody>('/messages/:id/body/:which', needs('operator'), async (request, reply) => {
    const { id, which } = request.params
    return sendBody(reply, id, await search.body(id, which))
  })
  for (const path of ['/messages', '/messages/:id', '/messages/:id/body/:which']) {
    refuseOtherMethods(server, path, ['GET'])
  }
  serveFailureGroups(server, groups)
  serveReplay(server, routes)
  refuseBelow(server, '/messages')
}

/** Sends a body as it was, but so that no browser shows or runs it. */
function sendBody(reply: FastifyReply, id: string, { summary, content }: RecordedBody): FastifyReply {
  const marks = marksOf(summary)
  return sendAnswer(reply, {
    status: 200,
    headers: {
      ...NO_STORE,
      'content-type': typeOf(summary.contentType),
      'content-disposition': `attachment; filename="${id}-${summary.which.replace(/[^\w.-]/g, '_')}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-crosswalk-body-size': String(summary.size),
      ...(marks === '' ? {} : { 'x-crosswalk-body': marks }),
    },
    body: content,
  })
}

const marksOf = ({ cut, masked }: BodySummary): string =>
  [...(cut ? ['cut'] : []), ...(masked ? ['masked'] : [])].join(', ')

/** The sender of the message wrote its type: only a well-formed one in ASCII may stand in a header of ours. */
const typeOf = (contentType: string): string =>
  parseMediaType(contentType) !== undefined && /^[\t\x20-\x7e]*$/.test(contentType)
    ? contentType
    : 'application/octet-stream'
