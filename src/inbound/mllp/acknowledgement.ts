/** What a sender over MLLP is answered (HL7 v2.5, sections 2.9.2 and 2.9.3). */
import type { Failure } from '../../core/failure.ts'
import { findHl7Error, formatHl7Time, SEGMENT_ERROR } from '../../formats/hl7v2-errors.ts'
import { type MessageHeader, readHeader, readType } from '../../outbound/mllp/message-header.ts'

/** `message`: the answer of the endpoint, in place of a positive acknowledgement. */
export type MessageResult = Readonly<{ failure: Failure | undefined; message?: Uint8Array | undefined }>

type AnswerOptions = Readonly<{
  /** Gives the control ids of the answers (MSH-10). */
  newControlId: () => string
  nowMs: number
}>

/**
 * The answers to a message, in the order in which they are sent.
 *
 * In the original mode, MSH-15 and MSH-16 are empty, and there is one answer: AA, AE if the same message may succeed later,
 * AR if it never can. In the enhanced mode, MSH-15 says when an accept acknowledgement is sent (CA, CE, CR), and MSH-16 when the
 * application acknowledgement is. A message that was not accepted has no further answer, unless MSH-15 asks for none.
 */
export function writeAnswers(
  header: MessageHeader | undefined,
  { failure, message }: MessageResult,
  options: AnswerOptions,
): readonly Uint8Array[] {
  const answered = header ?? NO_HEADER
  const verdict = failure === undefined ? 'A' : failure.retry ? 'E' : 'R'
  const accept = readCondition(answered, 15)
  const application = readCondition(answered, 16)
  if (accept === '' && application === '') {
    return [message ?? acknowledge(answered, `A${verdict}`, failure, options)]
  }
  const answers: Uint8Array[] = []
  if (isWanted(accept, failure)) answers.push(acknowledge(answered, `C${verdict}`, failure, options))
  if (isWanted(application, failure) && (failure === undefined || answers.length === 0)) {
    answers.push(message ?? acknowledge(answered, `A${verdict}`, failure, options, NO_FURTHER_ANSWERS))
  }
  return answers
}

/** Of a frame that does not start with a header. */
const NO_HEADER = readHeader(Buffer.from('MSH|^~\\&|||||||||P|2.5')) as MessageHeader

const NO_FURTHER_ANSWERS = ['NE', 'NE'] as const

/** MSH-15 or MSH-16 (table HL7 0155). Two quotes delete a value, so they are none. */
function readCondition({ field }: MessageHeader, number: 15 | 16): string {
  const condition = field(number).trim().toUpperCase()
  return condition === '""' ? '' : condition
}

/** A condition that is not in the table is taken for AL: a sender that waits in vain stops. */
function isWanted(condition: string, failure: Failure | undefined): boolean {
  switch (condition) {
    case '':
    case 'NE':
      return false
    case 'SU':
      return failure === undefined
    case 'ER':
      return failure !== undefined
    default:
      return true
  }
}

function acknowledge(
  header: MessageHeader,
  code: string,
  failure: Failure | undefined,
  { newControlId, nowMs }: AnswerOptions,
  conditions: readonly [accept: string, application: string] | readonly [] = [],
): Uint8Array {
  const { fieldMark, componentMark, field } = header
  const { event } = readType(header)
  const compose = (...parts: readonly string[]): string => parts.join(componentMark)
  const fields = [
    'MSH',
    field(2),
    field(5),
    field(6),
    field(3),
    field(4),
    formatHl7Time(nowMs),
    '',
    event === '' ? 'ACK' : compose('ACK', event, 'ACK'),
    newControlId(),
    field(11),
    field(12),
    '',
    '',
    conditions[0] ?? '',
    conditions[1] ?? '',
    '',
    field(18),
  ]
  const sentence = failure === undefined ? '' : escapeText(failure.message, header)
  const segments = [fields, failure === undefined ? ['MSA', code, field(10)] : ['MSA', code, field(10), sentence]]
  if (failure !== undefined) {
    const error = compose(...(header === NO_HEADER ? SEGMENT_ERROR : findHl7Error(failure.code)))
    const path = escapeText(failure.options.path ?? '', header)
    segments.push(['ERR', '', '', error, 'E', failure.code, '', path, sentence])
  }
  const text = segments.map((parts) => `${parts.join(fieldMark).replace(trailing(fieldMark), '')}\r`).join('')
  return Buffer.from(text, 'latin1')
}

const known = new Map<string, RegExp>()

function trailing(fieldMark: string): RegExp {
  const found = known.get(fieldMark) ?? new RegExp(`${RegExp.escape(fieldMark)}+$`)
  known.set(fieldMark, found)
  return found
}

/**
 * A text in the charset of the message, as characters that are its bytes. Delimiters become escape sequences (section 2.7),
 * line ends spaces, and a character that the charset does not have a question mark.
 */
function escapeText(text: string, header: MessageHeader): string {
  const { fieldMark, componentMark, escapeMark, field } = header
  const [, repetitionMark, , subcomponentMark] = field(2)
  const names = new Map([
    [fieldMark, 'F'],
    [componentMark, 'S'],
    [subcomponentMark, 'T'],
    [repetitionMark, 'R'],
    [escapeMark, 'E'],
  ])
  let escaped = ''
  for (const character of encode(text, field(18))) {
    const name = names.get(character)
    if (character < ' ') escaped += ' '
    else if (name === undefined) escaped += character
    else escaped += escapeMark === undefined ? ' ' : escapeMark + name + escapeMark
  }
  return escaped
}

/** `charset`: MSH-18 (table HL7 0211). */
function encode(text: string, charset: string): string {
  if (/utf-?8/i.test(charset)) return Buffer.from(text.toWellFormed()).toString('latin1')
  const last = /8859\/1(?!\d)/.test(charset) ? 0xff : 0x7e
  return Array.from(text, (character) => ((character.codePointAt(0) ?? 0) > last ? '?' : character)).join('')
}
