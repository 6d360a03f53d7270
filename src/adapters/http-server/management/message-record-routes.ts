/** `/messages` on the admin port: what was recorded of messages. Bodies hold what people confide to a hospital. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { BodySummary, RecordedBody } from '../../../domain/message-record.ts'
import { parseMediaType } from '../../../formats/media-type.ts'
import type { FilterTexts } from '../../../message-log/message-filter.ts'
import { sendAnswer, sendJson } from '../replies.ts'
import { needs } from './auth-hook.ts'
import { refuseBelow, refuseOtherMethods } from './endpoint-routes.ts'
import { type ReplayRoutes, serveReplay } from './replay-routes.ts'

type ById = { Params: { id: string } }
type ByBody = { Params: { id: string; which: string } }

/** What is shown is not kept by caches: it is not everybody's who uses the same browser later. */
const PRIVATE = { 'cache-control': 'no-store' }

export function serveMessageRecords(server: FastifyInstance, routes: ReplayRoutes): void {
  const { search } = routes
  // A scope of its own, for what replays do to all of its calls.
  server.register(async (scope) => {
    scope.get('/messages', needs('viewer'), async (request, reply) =>
      sendJson(reply, 200, await search.list(textsOf(request.query)), PRIVATE),
    )
    scope.get('/messages/groups', needs('viewer'), async (request, reply) =>
      sendJson(reply, 200, { groups: await search.groups(textsOf(request.query)) }, PRIVATE),
    )
    scope.get<ById>('/messages/:id', needs('viewer'), async (request, reply) =>
      sendJson(reply, 200, await search.get(request.params.id), PRIVATE),
    )
    scope.get<ByBody>('/messages/:id/body/:which', needs('operator'), async (request, reply) => {
      const { id, which } = request.params
      return sendBody(reply, id, await search.body(id, which))
    })
    for (const path of ['/messages', '/messages/groups', '/messages/:id', '/messages/:id/body/:which']) {
      refuseOtherMethods(scope, path, ['GET'])
    }
    serveReplay(scope, routes)
    refuseBelow(scope, '/messages')
  })
}

function textsOf(query: unknown): FilterTexts {
  const entries = Object.entries(query as Record<string, string | string[]>)
  return new Map(entries.map(([name, value]) => [name, [value].flat()]))
}

/** As it was sent, but never as something that a browser would show or run. */
function sendBody(reply: FastifyReply, id: string, { summary, content }: RecordedBody): FastifyReply {
  const marks = marksOf(summary)
  return sendAnswer(reply, {
    status: 200,
    headers: {
      ...PRIVATE,
      'content-type': typeOf(summary.contentType),
      'content-disposition': `attachment; filename="${id}-${summary.which.replace(/[^\w.-]/g, '_')}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-crosswalk-body-size': String(summary.size),
      ...(marks === '' ? {} : { 'x-crosswalk-body': marks }),
    },
    body: content,
  })
}

const marksOf = ({ cut, masked }: BodySummary): string =>
  [...(cut ? ['cut'] : []), ...(masked ? ['masked'] : [])].join(', ')

/** Whoever sent the message wrote its type; a header of ours holds no more than a type can. */
const typeOf = (contentType: string): string =>
  parseMediaType(contentType) !== undefined && /^[\t\x20-\x7e]*$/.test(contentType)
    ? contentType
    : 'application/octet-stream'
