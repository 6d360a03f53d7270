/**
 * THE PIPELINE: one line a stage, and around the stages every wrapper of a message's way. Compiles an endpoint document once;
 * its messages only run the result.
 */

import { asFailure } from '../core/failure.ts'
import type { JsonObject } from '../core/json.ts'
import { leaseFailure } from '../core/lease.ts'
import type { LintSink } from '../core/lint.ts'
import type { Answered, Received } from '../core/message.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import { type Ending, startChain } from './chain.ts'
import { type AtEnd, compileAcceptance, type Fail } from './durable-requests.ts'
import type { EndpointAuth } from './endpoint-auth.ts'
import { createExpressionCompiler } from './expressions.ts'
import { compileIdempotency, type KeyedHandle } from './idempotency/idempotency-middleware.ts'
import type { Handle, Outcome } from './outcome.ts'
import { failedOutcome } from './reply.ts'
import { compileConstants, withoutValues } from './requests/secret-references.ts'
import type { PipelineSettings, Services } from './services.ts'
import { compileAnswer } from './stages/answer.ts'
import { compileLookup } from './stages/lookup.ts'
import { compileMap } from './stages/map.ts'
import { compileParse } from './stages/parse.ts'
import { compileRespond } from './stages/respond.ts'
import { compileSerialise } from './stages/serialise.ts'
import { compileExtract, compileKeep, compileRecall, type Keep, notKept, usesState } from './stages/state.ts'
import { compileTransform } from './stages/transform.ts'
import { compileValidate } from './stages/validate.ts'

/**
 * Compiles a checked document. `id`: of the endpoint, the key of its state.
 *
 * Faults go to `lint`; after an error there, the result must not run.
 */
export function compileEndpoint(
  endpoint: Endpoint,
  id: string,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): Handle {
  const states = usesState(endpoint) ? services.states : undefined
  const ending = createEnding(endpoint)
  const pipeline = startChain<Received>(services.observer)
    .add('recall', compileRecall(endpoint, id, states, lint))
    .add('parse', compileParse(endpoint, settings))
    .add('lookup', compileLookup(endpoint, services, settings, lint))
    .add('validate', compileValidate(endpoint, settings, lint, services))
    .add('transform', compileTransform(endpoint, settings, lint, services))
    .add(
      'map',
      compileMap(endpoint, lint, createExpressionCompiler(endpoint, settings, services), services.observer?.mapping),
    )
    .add('extract', compileExtract(endpoint, settings, lint))
    .add('serialise', compileSerialise(endpoint, settings))
    .add('respond', compileRespond(endpoint, id, services, settings, lint))
    .add('answer', compileAnswer(endpoint, services, settings, lint))
    .build(ending)
  const handle = withConstants(pipeline, endpoint, services, lint, ending.fail)
  const keep = states === undefined ? undefined : keepState(compileKeep(endpoint, id, services), ending.fail)
  const accept = compileAcceptance(endpoint, states !== undefined, services, settings, keep, ending.fail)
  return withEnd(handle, fenced(accept ?? keep, ending.fail))
}

/** `handleKeyed` replaces `handle` for requests, if those with an `Idempotency-Key` are processed once. */
export type WrappedPipeline = Readonly<{ handle: Handle; handleKeyed?: KeyedHandle | undefined }>

/**
 * The rest of a message's way, outside of what `compileEndpoint` compiles: between the two, the pipeline cache may drop the
 * stages and compile them again. A repeated message reaches none of them, and its outcome may quote secrets of the sender.
 */
export function wrapPipeline(
  pipeline: Handle,
  endpoint: Endpoint,
  id: string,
  auth: EndpointAuth | undefined,
  { idempotency }: Services,
): WrappedPipeline {
  const keyed = compileIdempotency(endpoint, id, pipeline, idempotency)
  return {
    handle: withCallerSecrets(pipeline, auth),
    handleKeyed: keyed && withCallerSecrets(keyed, auth),
  }
}

const createEnding = (endpoint: Endpoint): Ending<Answered, Outcome> => ({
  succeed: ({ answer }) => ({ answer, failure: undefined }),
  fail: (failure, { trace, messageId }) => failedOutcome(withoutValues(failure, trace.secrets), endpoint, messageId),
})

/** Only constants that refer to secrets are resolved for each message. */
function withConstants(handle: Handle, endpoint: Endpoint, { secrets }: Services, lint: LintSink, fail: Fail): Handle {
  const resolve = compileConstants(endpoint.constants, secrets, lint.at('constants'))
  if (resolve === undefined) return handle
  return (message, run) => {
    let constants: JsonObject
    try {
      constants = resolve(run)
    } catch (thrown) {
      return fail(asFailure(thrown), run)
    }
    return handle({ ...message, constants }, run)
  }
}

/** Secrets that a sender has shown are hidden wherever else the message repeats them. */
function withCallerSecrets(handle: KeyedHandle, auth: EndpointAuth | undefined): KeyedHandle {
  if (auth === undefined) return handle
  return (message, run, caller) => {
    auth.noteSecrets(run)
    return handle(message, run, caller)
  }
}

/** `end`: waits for what must be durable before the message is answered. */
function withEnd(handle: Handle, end: AtEnd | undefined): Handle {
  if (end === undefined) return handle
  return (message, run) => {
    const outcome = handle(message, run)
    return outcome instanceof Promise ? outcome.then((done) => end(done, run)) : end(outcome, run)
  }
}

/** A run of a schedule that has lost its lease leaves nothing: the next run may have started, with what was there before. */
function fenced(end: AtEnd | undefined, fail: Fail): AtEnd | undefined {
  if (end === undefined) return undefined
  return (outcome, run) => {
    const lost = leaseFailure(run.lease)
    if (lost === undefined) return end(outcome, run)
    run.trace.deliveries = undefined
    return outcome.failure === undefined ? fail(lost, run) : outcome
  }
}

function keepState(keep: Keep, fail: Fail): AtEnd {
  return (outcome, run) => {
    // A message that failed to recall its state has made no lookups: there is nothing to keep.
    if (outcome.failure?.kind.store === 'state') return outcome
    return keep(run).then(
      () => outcome,
      (thrown: unknown) => fail(notKept(thrown), run),
    )
  }
}
