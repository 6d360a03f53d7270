/** THE PIPELINE: one line a stage. Compiles an endpoint document once; its messages only run the result. */

import { asFailure, type Failure } from '../core/failure.ts'
import type { Awaitable, JsonObject } from '../core/json.ts'
import type { LintSink } from '../core/lint.ts'
import type { Answered, Received } from '../core/message.ts'
import type { Run } from '../core/run.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import { type Ending, startChain } from './chain.ts'
import type { Handle, Outcome } from './outcome.ts'
import { failedOutcome } from './reply.ts'
import { compileConstants, withoutValues } from './requests/secret-references.ts'
import type { PipelineSettings, Services } from './services.ts'
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
    .add('map', compileMap(endpoint, lint, services.observer?.mapping))
    .add('extract', compileExtract(endpoint, settings, lint))
    .add('serialise', compileSerialise(endpoint, settings))
    .add('respond', compileRespond(endpoint, services, settings, lint))
    .build(ending)
  const handle = withConstants(pipeline, endpoint, services, lint, ending.fail)
  return states === undefined ? handle : withState(handle, compileKeep(id, states), ending.fail)
}

type Fail = (failure: Failure, run: Run) => Outcome

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

function withState(handle: Handle, keep: Keep, fail: Fail): Handle {
  const keepThen = (outcome: Outcome, run: Run): Awaitable<Outcome> => {
    // A message that failed to recall its state has made no lookups: there is nothing to keep.
    if (outcome.failure?.kind.store === 'state') return outcome
    const failKeeping = (thrown: unknown): Outcome => fail(notKept(thrown), run)
    try {
      return keep(run).then(() => outcome, failKeeping)
    } catch (thrown) {
      return failKeeping(thrown)
    }
  }
  return (message, run) => {
    const outcome = handle(message, run)
    return outcome instanceof Promise ? outcome.then((done) => keepThen(done, run)) : keepThen(outcome, run)
  }
}
