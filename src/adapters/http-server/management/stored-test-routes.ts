/** The tests that the service keeps for an endpoint, on both ports, and tests made from recorded messages, on the admin port. */
import type { FastifyInstance } from 'fastify'
import type { MakeRecordedTest } from '../../../document-tests/recorded/recorded-tests.ts'
import type { StoredTests } from '../../../document-tests/stored/stored-tests.ts'
import { MOST_TEST_BYTES } from '../../../document-tests/test-file.ts'
import type { Json } from '../../../domain/json.ts'
import { type ById, hasBody, NO_STORE, refuseOtherMethods, sendJson } from '../replies.ts'
import { entryOfChange, needs } from './auth-hook.ts'
import { send, setWarnings } from './endpoint-routes.ts'
import { readDocument } from './read-document.ts'

/** In a scope with the auth hook. */
export function serveStoredTests(scope: FastifyInstance, tests: StoredTests): void {
  scope.get<ById>('/endpoints/:id/tests', needs('viewer'), async (request, reply) =>
    send(request, reply, 200, await tests.get(request.params.id)),
  )
  const { config } = needs('author')
  const options = { config: { ...config, limitSetting: 'the limit of tests' }, bodyLimit: MOST_TEST_BYTES }
  scope.put<ById>('/endpoints/:id/tests', options, async (request, reply) => {
    const { id } = request.params
    const ifMatch = request.headers['if-match']
    const { file, warnings } = await tests.replace(id, readDocument(request), ifMatch, entryOfChange(request))
    setWarnings(reply, warnings)
    return send(request, reply, 200, file)
  })
  scope.delete<ById>('/endpoints/:id/tests', needs('author'), async (request, reply) => {
    const { id } = request.params
    await tests.remove(id, request.headers['if-match'], entryOfChange(request))
    return send(request, reply, 200, { message: `Tests of the endpoint with ID '${id}' deleted` })
  })
  refuseOtherMethods(scope, '/endpoints/:id/tests', ['GET', 'PUT', 'DELETE'])
}

/** For the admin port: the test has what the bodies of the message have. */
export function serveRecordedTests(server: FastifyInstance, makeTest: MakeRecordedTest): void {
  server.post<ById>('/messages/:id/test', needs('operator'), async (request, reply) => {
    const text = hasBody(request) ? readDocument(request) : ''
    return sendJson(reply, 200, (await makeTest(request.params.id, text)) as unknown as Json, NO_STORE)
  })
  refuseOtherMethods(server, '/messages/:id/test', ['POST'])
}
