import type { Endpoint } from '../../config/schema/schema.ts'
import { Failure } from '../../domain/failure.ts'
import type { Json } from '../../domain/json.ts'
import type { Mapped, Serialised } from '../../domain/message.ts'
import { Unwritable } from '../../formats/body-faults.ts'
import type { Codec } from '../../formats/codec.ts'
import { codecOfFormat } from '../../formats/codecs.ts'
import type { Stage } from '../chain.ts'

/**
 * Writes the mapped output in the format of `transformation.output`.
 *
 * In: `responseBody`. Out: adds `output`, the text. Fails: SERIALISE_FAILED, naming the place in the output.
 */
export function compileSerialise(endpoint: Endpoint): Stage<Mapped, Serialised> {
  const codec = codecOfFormat(endpoint.transformation.output)
  return (message) => ({ ...message, output: write(message.responseBody, codec) })
}

/** A value as text. `path`: of what asks for it in the document. Fails with SERIALISE_FAILED. */
export function write(value: Json, codec: Codec, path = 'transformation.output'): string {
  try {
    return codec.build(value)
  } catch (thrown) {
    if (thrown instanceof Unwritable) {
      throw new Failure('SERIALISE_FAILED', thrown.message, { path, cause: thrown, unquoted: thrown.unquoted })
    }
    // The engine throws it for a text that is longer than a string can be, and for a value that exhausts the stack.
    if (!(thrown instanceof RangeError)) throw thrown
    throw new Failure('SERIALISE_FAILED', TOO_LARGE, { path, cause: thrown })
  }
}

const TOO_LARGE = 'The output cannot be written: it is too long or nested too deeply.'
