import { Failure } from '../../core/failure.ts'
import { type Json, jsonLength } from '../../core/json.ts'
import type { Mapped, Serialised } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { TooLong, Unwritable } from '../../formats/body-faults.ts'
import type { Codec } from '../../formats/codec.ts'
import { codecForFormat } from '../../formats/codecs.ts'
import { listNestedEntries } from '../../language/mapping/nested-entries.ts'
import { ADDED_BYTES_MAX } from '../../language/mapping/target-places.ts'
import type { Stage } from '../chain.ts'
import type { PipelineSettings } from '../services.ts'
import { usesState } from './state.ts'

/**
 * Writes the mapped output in the format of `transformation.output`.
 *
 * In: `responseBody`. Out: adds `output`, the text or its bytes. Fails: SERIALISE_FAILED, naming the place in the output;
 * MESSAGE_TOO_COSTLY and BUDGET_EXHAUSTED before an output is written that is too large for the budget of the message.
 */
export function compileSerialise(endpoint: Endpoint, { stateLimitBytes }: PipelineSettings): Stage<Mapped, Serialised> {
  const codec = codecForFormat(endpoint.transformation.output, endpoint)
  const mayBeLarge = compileMayBeLarge(endpoint, stateLimitBytes)
  return (message, run) => {
    const { budget } = run
    if (mayBeLarge(run)) {
      const length = jsonLength(message.responseBody, budget.leftBytes)
      if (length > budget.leftBytes) budget.spend(length, OUTPUT)
    }
    return { ...message, output: writePaid(message.responseBody, codec, run) }
  }
}

const OUTPUT = 'transformation.output'

/** Values of expressions that took less than a millisecond are not paid one by one (compileTransform). */
const UNPAID_VALUES_BYTES = 256 * 1024

/** Headers, query and URL parameters of a message have less. */
const ENVELOPE_BYTES = 64 * 1024

/**
 * True if the output may be larger than what the message may still make. Only then its size is measured before it is
 * written: that takes a third of the time of writing it. An output holds no value more often than there are targets, but for
 * what an `each` repeats, which the mapping bounds.
 */
function compileMayBeLarge(endpoint: Endpoint, stateLimitBytes: number): (run: Run) => boolean {
  const entries = listNestedEntries(endpoint.inputMapping)
  const targets = entries.reduce((sum, { declared }) => sum + (Array.isArray(declared) ? declared.length : 1), 1)
  const repeatedBytes = entries.some(({ loops }) => loops.length > 0) ? ADDED_BYTES_MAX : 0
  const hasTransforms = Object.keys(endpoint.inputTransforms ?? {}).length > 0
  const fixedBytes =
    (hasTransforms ? UNPAID_VALUES_BYTES : 0) +
    ENVELOPE_BYTES +
    jsonLength(endpoint.constants) +
    (usesState(endpoint) ? stateLimitBytes : 0)
  return ({ body, budget }) =>
    ((body?.byteLength ?? 0) + budget.spentBytes + fixedBytes) * targets + repeatedBytes > budget.leftBytes
}

/** As `write`, paid by the budget of the message. */
export function writePaid(
  value: Json,
  codec: Codec,
  { budget }: Pick<Run, 'budget'>,
  path = OUTPUT,
): string | Uint8Array {
  const written = write(value, codec, path, budget)
  budget.spend(written.length, path)
  return written
}

export const payForOutput = ({ length }: string | Uint8Array, { budget }: Pick<Run, 'budget'>): void =>
  budget.spend(length, OUTPUT)

/**
 * A value as text or bytes. `path`: of what asks for it in the document. Fails with SERIALISE_FAILED, and where the text would be longer
 * than `budget` allows as that does; it is not spent.
 */
export function write(value: Json, codec: Codec, path = OUTPUT, budget?: Run['budget']): string | Uint8Array {
  try {
    return codec.build(value, budget?.leftBytes)
  } catch (thrown) {
    if (thrown instanceof TooLong && budget !== undefined) budget.spend(thrown.length, path)
    if (thrown instanceof Unwritable) {
      const { message, unquoted } = path === OUTPUT ? thrown : thrown.about('The body')
      throw new Failure('SERIALISE_FAILED', message, { path, cause: thrown, unquoted })
    }
    // The engine throws it for a text that is longer than a string can be, and for a value that exhausts the stack.
    if (!(thrown instanceof RangeError)) throw thrown
    throw new Failure('SERIALISE_FAILED', TOO_LARGE, { path, cause: thrown })
  }
}

const TOO_LARGE = 'The output cannot be written: it is too long or nested too deeply.'
