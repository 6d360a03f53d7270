/** `crosswalk new --examples`: a document from files with messages and what they become, and a test of each pair. */
import { readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { createOfflineServices } from '../app/offline.ts'
import { Failure } from '../core/failure.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { guessFormat, MEDIA_TYPES } from '../formats/codecs.ts'
import { decodeText } from '../formats/text.ts'
import { createLogger } from '../observe/log/logger.ts'
import type { Settings } from '../settings/settings.ts'
import { createRunPairs } from '../try/suggestions/by-example/run-pairs.ts'
import { createTest } from '../try/suggestions/draft-endpoint.ts'
import { readGiven } from '../try/suggestions/examples.ts'
import { suggestByExample } from '../try/suggestions/suggest.ts'
import type { ByExample } from '../try/suggestions/suggest-answer.ts'
import { readBody } from '../try/tests/observed.ts'
import { CommandFault, readBytes } from './command.ts'

type Asked = Readonly<{ folder: string; name: string; pattern: string }>

type FilePair = Readonly<{ name: string; message: Side; output: Side }>
type Side = Readonly<{ text: string; type: string }>

/** `notes`: how much was found and what is left to ask, for people. Throws CommandFault. */
export async function deriveFromFolder(
  { folder, name, pattern }: Asked,
  settings: Settings,
): Promise<Readonly<{ document: JsonObject; tests: JsonObject; notes: readonly string[] }>> {
  const pairs = readPairs(folder)
  const examples = pairs.map(({ message, output }) => ({
    message: { body: message.text, contentType: message.type },
    output: output.type === JSON_TYPE ? parse(output.text, folder) : output.text,
    outputType: output.type,
  }))
  const logger = createLogger({ ...settings, logLevel: 'error' })
  const runPairs = createRunPairs({ services: createOfflineServices(settings), settings, logger })
  try {
    const found = await suggestByExample({ name, pattern }, readGiven({ examples }), {}, settings, runPairs, {
      keepsCodes: true,
    })
    const tests = pairs.map(({ name: title, message, output }) => ({
      ...createTest(
        { body: message.text, contentType: message.type },
        'done',
        200,
        readBody(output.text, output.type).value,
      ),
      name: title,
    }))
    return { document: found.endpoint, tests: { tests }, notes: describe(found) }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const details = (thrown.options.details ?? []) as readonly Readonly<{ path?: string; message: string }>[]
    const sentences = details.map(({ path = '', message }) => {
      const pair = pairs[Number(/^examples\[(\d+)\]/.exec(path)?.[1])]
      return pair === undefined ? message : `${pair.name}: ${message}`
    })
    throw new CommandFault(sentences.length === 0 ? thrown.message : sentences)
  }
}

const JSON_TYPE = 'application/json'

function readPairs(folder: string): readonly FilePair[] {
  let names: readonly string[]
  try {
    names = readdirSync(folder).sort()
  } catch {
    throw new CommandFault(`${folder} is not a folder that can be read.`)
  }
  const sides = names.flatMap((file) => {
    const [, name, side] = /^(.+)\.(in|out)\.[^.]+$/.exec(file) ?? []
    return name === undefined ? [] : [{ name, side, file }]
  })
  const pairs = sides.flatMap(({ name, side, file }) => {
    if (side !== 'in') return []
    const out = sides.find((one) => one.side === 'out' && one.name === name)
    if (out === undefined) throw new CommandFault(`${file} has no ${name}.out file beside it.`)
    return [{ name, message: readSide(join(folder, file)), output: readSide(join(folder, out.file)) }]
  })
  if (pairs.length === 0) throw new CommandFault(`${folder} has no files NAME.in.json and NAME.out.json.`)
  return pairs
}

function readSide(path: string): Side {
  const text = decodeText(readBytes(path), undefined)
  return { text, type: MEDIA_TYPES[guessFormat(text, extname(path))] ?? JSON_TYPE }
}

function parse(text: string, folder: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw new CommandFault(`An output in ${folder} is not well-formed JSON.`)
  }
}

function describe({ heldBack, questions, evidence }: ByExample): readonly string[] {
  const { pairs, leaves, right } = heldBack
  return [
    `${evidence.length} places of the output were found, ${questions.length} are questions.`,
    ...(pairs === 0 ? [] : [`Of ${pairs} pairs that were held back, ${right} of ${leaves} values came out right.`]),
    ...questions.map(
      ({ target, message, source }) => `${target}: ${message}${source === undefined ? '' : ` For now: ${source}`}`,
    ),
  ]
}
