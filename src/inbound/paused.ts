/** The refusal of messages to an endpoint whose document says `paused`: a state that people end, so that senders keep theirs. */
import { Failure } from '../core/failure.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'

export const isPaused = ({ endpoint }: CompiledEndpoint): boolean => endpoint.paused === true

export const refusalIfPaused = (compiled: CompiledEndpoint): Failure | undefined =>
  isPaused(compiled)
    ? new Failure('ENDPOINT_PAUSED', `"${compiled.document.name}" is paused; send this message again later.`, {
        path: 'paused',
      })
    : undefined
