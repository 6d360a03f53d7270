/** `/endpoints/tests`: tests of documents. */
import type { FastifyInstance } from 'fastify'
import type { RunRequestedTests } from '../../../document-tests/requested-tests.ts'
import { MOST_TEST_BYTES } from '../../../document-tests/test-file.ts'
import type { Json } from '../../../domain/json.ts'
import { refuseOtherMethods, sendJson } from '../replies.ts'
import { leaveNoEntry, needs } from './auth-hook.ts'
import { readDocument } from './read-document.ts'

/**
 * In a scope with the auth hook. `documentLimitBytes`: of a document alone; beside it, the request has tests and their
 * snapshots.
 */
export function serveTests(scope: FastifyInstance, runTests: RunRequestedTests, documentLimitBytes: number): void {
  const options = { ...needs('author'), bodyLimit: documentLimitBytes + 2 * MOST_TEST_BYTES }
  scope.post('/endpoints/tests/run', options, async (request, reply) => {
    // Nothing is changed, sent or read of a message.
    leaveNoEntry(request)
    return sendJson(reply, 200, (await runTests(readDocument(request))) as unknown as Json)
  })
  refuseOtherMethods(scope, '/endpoints/tests/run', ['POST'])
}
