import type { Endpoint } from '../../config/schema/schema.ts'
import { Failure } from '../../domain/failure.ts'
import type { Json } from '../../domain/json.ts'
import type { Mapped, Serialised } from '../../domain/message.ts'
import { type Syntax, syntaxOfFormat } from '../../formats/media-type.ts'
import { buildXml, Unwritable } from '../../formats/xml-build.ts'
import type { Stage } from '../chain.ts'

/**
 * Writes the mapped output in the format of `transformation.output`.
 *
 * In: `responseBody`. Out: adds `output`, the text. Fails: SERIALISE_FAILED, naming the place in the output.
 */
export function compileSerialise(endpoint: Endpoint): Stage<Mapped, Serialised> {
  const syntax = syntaxOfFormat(endpoint.transformation.output)
  return (message) => ({ ...message, output: write(message.responseBody, syntax) })
}

/** A value as JSON or XML text. `path` is the place in the document that asks for it. Fails with SERIALISE_FAILED. */
export function write(value: Json, syntax: Syntax, path = 'transformation.output'): string {
  try {
    return syntax === 'json' ? JSON.stringify(value) : buildXml(value)
  } catch (thrown) {
    const problem = problemOf(thrown)
    if (problem === undefined) throw thrown
    const unquoted = thrown instanceof Unwritable ? 'The output cannot be written as XML.' : problem
    throw new Failure('SERIALISE_FAILED', problem, { path, cause: thrown, unquoted })
  }
}

/** The engine throws a RangeError where a text would be longer than a string can be, or a value exhausts the stack. */
function problemOf(thrown: unknown): string | undefined {
  if (thrown instanceof Unwritable) return thrown.message
  if (thrown instanceof RangeError) return 'The output cannot be written: it is too long or nested too deeply.'
  return undefined
}
