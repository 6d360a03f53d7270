/** The files of `crosswalk new --examples`: a message, what else its request has, and what it becomes. */
import { isUtf8 } from 'node:buffer'
import { readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { MAX_EXAMPLE_BYTES, MAX_EXAMPLES } from '../core/examples.ts'
import type { JsonObject } from '../core/json.ts'
import { collectInto, type Lint } from '../core/lint.ts'
import { checkSchema } from '../document/checks/check-field.ts'
import { Unreadable } from '../formats/body-faults.ts'
import type { ParserSettings } from '../formats/codec.ts'
import { CODECS, codecForFile, MEDIA_TYPES, sniff } from '../formats/codecs.ts'
import { readSample, type SampleMessage } from '../try/suggestions/draft-endpoint.ts'
import { ExampleMessage } from '../try/suggestions/suggest-request.ts'
import { CommandFault, readBytes, sentenceAt } from './command.ts'
import type { NamedExample } from './new-from-examples.ts'

/** Such as `NAME.in.xml`, `NAME.out.json`, and `NAME.request.json` with the query, urlParams and headers of the message. */
const FILE = /^(.+)\.(?:(in|out)\.[^.]+|(request)\.json)$/

type Side = 'in' | 'out' | 'request'

/** In the order of the names. `notes`: files that are not read. Throws CommandFault with every fault of the folder. */
export function readExampleFiles(folder: string, settings: ParserSettings) {
  const faults: string[] = []
  const others: string[] = []
  const pairs = new Map<string, Record<Side, string[]>>()
  for (const file of listFiles(folder)) {
    const [, name, side, request] = FILE.exec(file) ?? []
    if (name === undefined) {
      others.push(file)
      continue
    }
    const sides = pairs.get(name) ?? { in: [], out: [], request: [] }
    sides[(side ?? request) as Side].push(file)
    pairs.set(name, sides)
  }
  let bytes = 0
  const read = (file: string) => {
    try {
      const content = readBytes(join(folder, file))
      bytes += content.length
      return readSide(content, file, settings)
    } catch (thrown) {
      if (thrown instanceof Unreadable) faults.push(`${file}: ${thrown.message}`)
      else if (thrown instanceof CommandFault) faults.push(...thrown.faults)
      else throw thrown
      return undefined
    }
  }
  const examples = [...pairs].map(([name, sides]): NamedExample => {
    const files = [...sides.in, ...sides.out, ...sides.request]
    for (const side of ['in', 'out'] as const) {
      const { length } = sides[side]
      if (length > 1) faults.push(`${sides[side].join(' and ')}: a pair has one .${side} file; keep one.`)
      const isMissing = length === 0 && (side === 'out' || sides.request.length === 0)
      if (isMissing) faults.push(`${files[0]} has no ${name}.${side} file beside it, such as ${name}.${side}.json.`)
    }
    const [[message], [output], [request]] = [sides.in.map(read), sides.out.map(read), sides.request.map(read)]
    if (request !== undefined) {
      const lints: Lint[] = []
      checkSchema(ExampleMessage, request.value, collectInto(lints))
      for (const { path, message: fault } of lints) faults.push(`${name}.request.json: ${sentenceAt(path, fault)}`)
    }
    return {
      name,
      message: {
        ...(request?.value as JsonObject | undefined),
        ...(message && { body: message.text, contentType: MEDIA_TYPES[message.format] }),
      },
      output: output?.text ?? '',
      outputType: output && MEDIA_TYPES[output.format],
    }
  })
  if (pairs.size === 0) {
    faults.push(
      `${folder} has no pairs: messages as NAME.in.json and what each becomes as NAME.out.json, in any format.`,
    )
  }
  if (pairs.size > MAX_EXAMPLES) faults.push(`${folder} has ${pairs.size} pairs; give at most ${MAX_EXAMPLES}.`)
  if (bytes > MAX_EXAMPLE_BYTES) {
    const [given, most] = [bytes, MAX_EXAMPLE_BYTES].map((count) => count.toLocaleString('en'))
    faults.push(`The files in ${folder} have ${given} bytes; give fewer pairs, of at most ${most} bytes in all.`)
  }
  if (faults.length > 0) throw new CommandFault(faults)
  const notes = others.map((file) => `${file} was not read: its name is not NAME.in.json, NAME.out.json or alike.`)
  return { examples, notes }
}

function listFiles(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() || entry.name.startsWith('.') ? [] : [entry.name])).sort()
  } catch {
    throw new CommandFault(`${folder} is not a folder that can be read.`)
  }
}

/** Throws CommandFault, and Unreadable if it is not of its format. */
function readSide(content: Buffer, file: string, settings: ParserSettings): SampleMessage {
  const text = content.toString()
  if (text.trim() === '') throw new CommandFault(`${file} is empty.`)
  if (!isUtf8(content)) throw new CommandFault(`${file} isn't text in UTF-8; save it as UTF-8.`)
  const ending = extname(file)
  if (codecForFile(ending) === undefined && sniff(text) === undefined) {
    const endings = Object.values(CODECS).flatMap(({ fileEndings }) => fileEndings)
    throw new CommandFault(`${file}: Its format is not known; give it one of the endings ${endings.join(', ')}.`)
  }
  return readSample(content, settings, undefined, ending)
}
